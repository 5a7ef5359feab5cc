// The seam inside a worker process: what a target or a vendor library implements so that trials and contests
// can use it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "codegen/source.h"
#include "measure/core/problem.h"
#include "record/library_finding.h"
#include "record/outcome.h"

namespace lehr {

/// An argument that is a tensor map of tensor `tensor` (SourceParam::map).
struct TensorMapArgument {
  std::size_t tensor = 0;
  DType type = DType::kF32;
  ir::TensorMap map;
  friend bool operator==(const TensorMapArgument&, const TensorMapArgument&) = default;
};

/// One compiled thing to run.
struct Candidate {
  std::string path;  ///< shared object or cubin; unused by vendor libraries
  std::string entry;
  decltype(Source::launch) launch;
  std::int64_t scratch_bytes = 0;                   ///< CPU: per concurrent call
  std::vector<std::int64_t> workspace_bytes = {};   ///< of each workspace (codegen/source.h)
  std::vector<std::int64_t> prepacked_bytes = {};   ///< CPU: of each prepacked parameter (the same)
  std::vector<TensorMapArgument> tensor_maps = {};  ///< CUDA: the other arguments are addresses
  std::int64_t most_rows = 0;                       ///< CPU: Source::most_rows
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

/// What a device that checks by itself is given for it. Without kernels the host checks.
struct DeviceCheck {
  std::string kernels;  ///< the binary of Backend::check_kernels; "": none
  Candidate plain;      ///< the compiled PlainSource
  std::int64_t bands = 0;
  friend bool operator==(const DeviceCheck&, const DeviceCheck&) = default;
};

/// What the parent decides for all candidates of one prepared problem.
struct RunSettings {
  int threads = 1;    ///< CPU threads that a candidate may use
  bool cold = false;  ///< sweep the last-level cache between samples instead of timing warm caches
  int device = 0;     ///< CUDA ordinal
  std::int64_t memory_bytes = 0;  ///< CPU: limit on the worker's private memory; 0: half of the machine's
  std::string bundle = {};        ///< the folder of the participant of that name
  std::vector<std::string> onnxruntime = {};  ///< where ONNX Runtime may be, where a baseline needs it
  LibrarySearch search = {};                  ///< of a vendor library for its fastest way
  DeviceCheck check = {};
  friend bool operator==(const RunSettings&, const RunSettings&) = default;
};

/// A candidate's failure, and whether the process can go on. CUDA's sticky errors (illegal address, ...) set
/// `worker_lost`: the worker answers, exits, and is replaced.
struct Fault {
  Failure failure;
  bool worker_lost = false;
  bool of_another = false;  ///< the candidate has done nothing yet: see Runner::damage_by_another()
};

/// The checked run's findings; its result was right.
struct Checked {
  /// Largest error (measure/core/check.h).
  double max_error = 0;
  /// A vendor library: what it ran, for a reader ("cuBLASLt 13.1.0, heuristic 0"); else "".
  std::string note = {};
  double overhead_us = 0;  ///< of a call of an engine that runs next to nothing; 0: it has none to speak of
};

/// One of a candidate's outputs as it lies in memory.
struct RunOutput {
  std::vector<unsigned char> bytes;
  int element_bytes = 1;
};

/// How long to sample. One sample is the mean of as many calls as fill `sample_us` (one when the cache is
/// cold). The defaults follow the noise study on two virtual cores: with 10 samples and 15 ms, the lower
/// quartile orders two kernels that differ by 3 % correctly in 96-99 % of the cases when they are measured
/// close together.
struct SampleRequest {
  double sample_us = 1000;
  int min_samples = 10;
  double min_total_us = 15000;
  double max_total_us = 500000;  ///< stop once it is exceeded and `few_samples` are there
  int few_samples = 3;
  double hopeless_us = 0;  ///< sampling ends at `few_samples` where all are slower than this (0: never)
  /// Sampling goes on until the time is known this well: half the width of its 95 % interval over the time
  /// (measure/core/stats.h), and ...
  double tolerance = 1;
  double tight_total_us = 60000;  ///< ... no longer than this in all,
  double contender_us = 0;  ///< ... and no candidate of whose interval nothing is below this (0: every one)
  friend bool operator==(const SampleRequest&, const SampleRequest&) = default;
};

struct Samples {
  std::vector<double> us;  ///< per call, in order
  bool hopeless = false;   ///< is_hopeless() (measure/core/sample_limits.h) of them
  double cpu_share = 1;    ///< CPU time / (wall time x threads) while sampling; 1 where it cannot be told
  std::optional<GpuState> gpu = std::nullopt;  ///< nullopt on the CPU and where NVML does not tell
};

/// Called from one thread in this order: prepare once, then for each slot load, check (runs the candidate
/// once, outputs poisoned before), time as often as wanted, unload. Several slots are loaded at a time: slot
/// 0 holds the session's reference kernel. A CPU candidate may crash or hang in any of them: the parent sees
/// the process die and reports it, the runner need not guard.
class Runner {
 public:
  Runner() = default;
  virtual ~Runner() = default;
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  /// Makes what takes long and needs no problem. Need not be called.
  virtual void open(const RunSettings&) {}
  /// The problem is made, but for runners that are told how their device checks (RunSettings::check). Throws
  /// Error(kEnvironment) when the device or library is not there: the text reaches the user.
  virtual void prepare(const Problem& problem, const RunSettings& settings) = 0;
  /// Who checks, since prepare(): "host", "device", or "host: why the device does not".
  virtual std::string checked_by() const { return "host"; }
  /// What prepare() has searched for, or was told and found to be so; nullopt: nothing, or no way was right.
  virtual std::optional<LibraryFinding> finding() const { return std::nullopt; }
  /// Asked before a candidate is loaded: whether one that ran before has damaged what all of them share. Then
  /// the worker is lost.
  virtual std::optional<Fault> damage_by_another() const { return std::nullopt; }
  /// What loading tells of the resources (fields that it does not know stay empty).
  virtual std::variant<Resources, Fault> load(int slot, const Candidate& candidate) = 0;
  virtual std::variant<Checked, Fault> check(int slot) = 0;
  /// Makes its own warm-up call first.
  virtual std::variant<Samples, Fault> time(int slot, const SampleRequest& request) = 0;
  /// Behind time(): whether what its calls left is right, and nothing else was touched. What they left in
  /// place is what many calls make of it, and not looked at. Of a vendor library this is not asked.
  virtual std::variant<Checked, Fault> check_left(int) { return Checked{}; }
  /// Where the device checks: one more call, whose whole output the host compares.
  virtual std::variant<Checked, Fault> check_by_host(int) { return Checked{}; }
  /// Puts other inputs, of tensors like those of the prepared problem, in their places, and expects other
  /// outputs from now on. A slot that prepacks does so again before its next call. Only runners of candidates
  /// are asked.
  virtual void replace_inputs(const Problem&) {
    throw Error(ErrorKind::kInternal, "a vendor library is not given other inputs");
  }
  virtual void unload(int slot) = 0;
  /// What the last check() computed, each output. Only runners of candidates are asked.
  virtual std::variant<std::vector<RunOutput>, Fault> output() const {
    throw Error(ErrorKind::kInternal, "a vendor library is not asked for its output");
  }
};

/// Of a vendor library: its one slot needs no file, Candidate is not looked at.
class VendorRunner : public Runner {
 public:
  std::variant<Resources, Fault> load(int, const Candidate&) final { return Resources{}; }
  void unload(int) final {}
};

}  // namespace lehr
