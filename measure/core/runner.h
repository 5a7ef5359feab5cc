// The interface between a worker process and a target or a vendor library. Trials and contests use it.
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

/// A kernel argument that is a tensor map of the argument at position `tensor` (SourceParam::map).
struct TensorMapArgument {
  std::size_t tensor = 0;
  DType type = DType::kF32;
  ir::TensorMap map;
  friend bool operator==(const TensorMapArgument&, const TensorMapArgument&) = default;
};

/// A compiled kernel, or a library's call.
struct Candidate {
  std::string path;  ///< shared object or cubin; unused by vendor libraries
  std::string entry;
  decltype(Source::launch) launch;
  std::int64_t scratch_bytes = 0;                  ///< CPU: scratch bytes of each concurrent call
  std::vector<std::int64_t> workspace_bytes = {};  ///< bytes of each workspace (codegen/source.h)
  /// CPU: bytes of each prepacked parameter (codegen/source.h).
  std::vector<std::int64_t> prepacked_bytes = {};
  std::vector<TensorMapArgument> tensor_maps = {};  ///< CUDA: all other arguments are addresses
  std::int64_t most_rows = 0;                       ///< CPU: Source::most_rows
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

/// Settings for checking results on the device. If `kernels` is empty, results are checked on the host.
struct DeviceCheck {
  std::string kernels;  ///< path of the compiled Backend::check_kernels
  Candidate plain;      ///< the compiled PlainSource
  std::int64_t bands = 0;
  friend bool operator==(const DeviceCheck&, const DeviceCheck&) = default;
};

/// Settings that the parent process chooses for all candidates of one prepared problem.
struct RunSettings {
  int threads = 1;  ///< CPU threads that a candidate may use
  /// Whether to sweep the last-level cache before each sample; if false, caches stay warm.
  bool cold = false;
  int device = 0;                 ///< CUDA ordinal
  std::int64_t memory_bytes = 0;  ///< CPU: limit of the worker's private memory; 0: half of the machine's
  std::string bundle = {};        ///< folder of the bundle that takes part in the contest
  /// Paths where ONNX Runtime may be found, if a baseline needs it.
  std::vector<std::string> onnxruntime = {};
  /// Limits of a vendor library's search for its fastest algorithm.
  LibrarySearch search = {};
  DeviceCheck check = {};
  friend bool operator==(const RunSettings&, const RunSettings&) = default;
};

/// A candidate's failure, and whether the process can go on. CUDA's sticky errors (illegal address, ...) set
/// `worker_lost`: the worker sends its reply, exits, and is replaced.
struct Fault {
  Failure failure;
  bool worker_lost = false;
  bool of_another = false;  ///< whether an earlier candidate caused the failure (Runner::damage_by_another())
};

/// Findings of a checked call whose result is right.
struct Checked {
  /// Largest error (measure/core/check.h).
  double max_error = 0;
  /// The algorithm that a vendor library ran, for users ("cuBLASLt 13.1.0, heuristic 0"); else "".
  std::string note = {};
  /// Microseconds that an engine needs for a call of a nearly empty network; 0: negligible.
  double overhead_us = 0;
};

/// An output of a candidate, as it lies in memory.
struct RunOutput {
  std::vector<unsigned char> bytes;
  int element_bytes = 1;
};

/// How long to sample. One sample is the mean time of several calls that together take `sample_us`. If caches
/// are cold, a sample is one call. The defaults follow a noise study on two virtual cores: with 10 samples
/// and 15 ms, the lower quartile orders two kernels that differ by 3 % correctly in 96-99 % of the cases if
/// they are measured close together.
struct SampleRequest {
  double sample_us = 1000;
  int min_samples = 10;
  double min_total_us = 15000;
  double max_total_us = 500000;  ///< sampling stops once this time is exceeded and there are `few_samples`
  int few_samples = 3;
  double hopeless_us = 0;  ///< sampling stops at `few_samples` if all samples are slower than this; 0: never
  /// Sampling goes on until half the width of the time's 95 % interval is at most this fraction of the time
  /// (measure/core/stats.h). 1: no such rule.
  double tolerance = 1;
  double tight_total_us = 60000;  ///< limit of the whole sampling time for `tolerance`
  /// `tolerance` is ignored for a candidate whose whole 95 % interval is above this time. 0: `tolerance`
  /// holds for all candidates.
  double contender_us = 0;
  friend bool operator==(const SampleRequest&, const SampleRequest&) = default;
};

struct Samples {
  std::vector<double> us;  ///< microseconds per call, in the order of sampling
  bool hopeless = false;   ///< is_hopeless() (measure/core/sample_limits.h)
  double cpu_share = 1;    ///< CPU time / (wall time x threads) while sampling; 1 if not known
  std::optional<GpuState> gpu = std::nullopt;  ///< nullopt on the CPU, and if NVML does not report it
};

/// Runs candidates. One thread calls the functions in this order: prepare() once, then for each slot load(),
/// check() (one call with poisoned outputs), any number of calls of time(), and unload(). Several slots may
/// be loaded at a time; slot 0 holds the session's reference kernel. A CPU candidate may crash or hang in any
/// of these calls. The parent process notices and reports it, so a runner need not guard against it.
class Runner {
 public:
  Runner() = default;
  virtual ~Runner() = default;
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  /// Does slow work that does not depend on a problem. Calling it is optional.
  virtual void open(const RunSettings&) {}
  /// Prepares a problem. The problem has its values, unless the device checks results (RunSettings::check).
  /// Throws Error(kEnvironment) if the device or library is missing: the text is shown to the user.
  virtual void prepare(const Problem& problem, const RunSettings& settings) = 0;
  /// Returns where results are checked since prepare(): "host", "device", or "host: why the device does not".
  virtual std::string checked_by() const { return "host"; }
  /// Returns the algorithm that prepare() has found by a search, or an earlier finding that prepare() has
  /// confirmed. nullopt: there was no search, or no algorithm computed right results.
  virtual std::optional<LibraryFinding> finding() const { return std::nullopt; }
  /// Called before a candidate is loaded. Returns a fault if an earlier candidate has damaged memory that all
  /// candidates share. The worker is lost then.
  virtual std::optional<Fault> damage_by_another() const { return std::nullopt; }
  /// Loads a candidate and returns its resources as far as they are known (unknown fields stay empty).
  virtual std::variant<Resources, Fault> load(int slot, const Candidate& candidate) = 0;
  virtual std::variant<Checked, Fault> check(int slot) = 0;
  /// Times the candidate, after a warm-up call.
  virtual std::variant<Samples, Fault> time(int slot, const SampleRequest& request) = 0;
  /// Called after time(). Checks that the outputs of the timed calls are right, and that nothing else was
  /// changed. Arguments that are changed in place are ignored, since many calls have changed them. Not called
  /// for a vendor library.
  virtual std::variant<Checked, Fault> check_left(int) { return Checked{}; }
  /// If the device checks results, makes one more call, and compares the call's whole output on the host.
  virtual std::variant<Checked, Fault> check_by_host(int) { return Checked{}; }
  /// Replaces the inputs by the inputs of another problem with the same tensors. From now on the outputs of
  /// that problem are expected. A slot that prepacks inputs does so again before its next call. Only called
  /// for runners of candidates.
  virtual void replace_inputs(const Problem&) {
    throw Error(ErrorKind::kInternal, "a vendor library is not given other inputs");
  }
  virtual void unload(int slot) = 0;
  /// Returns each output of the last check(). Only called for runners of candidates.
  virtual std::variant<std::vector<RunOutput>, Fault> output() const {
    throw Error(ErrorKind::kInternal, "a vendor library is not asked for its output");
  }
};

/// Runner of a vendor library. Its only slot needs no file, and ignores the Candidate.
class VendorRunner : public Runner {
 public:
  std::variant<Resources, Fault> load(int, const Candidate&) final { return Resources{}; }
  void unload(int) final {}
};

}  // namespace lehr
