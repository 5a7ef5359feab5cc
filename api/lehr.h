// Lehr from a program: open a device and a log, tune, export, apply. Start here. This header stays as it is
// within 0.x; others may change with each minor version (docs/library.md).
//
// Nothing here reads the environment, prints, or installs a signal handler. Several threads may work at the
// same time, each with a device and a log of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/tool_paths.h"

#ifndef LEHR_PROGRAM
#define LEHR_PROGRAM ""  // find_package(lehr) defines it: the program that is installed beside the libraries
#endif

namespace lehr::api {

/// What can come of a call, by who can mend it. The numbers are the exit codes of the program.
enum class Code {
  kDone = 0,
  kWrongInput = 1,
  kMissing = 2,       ///< something on this machine is not there, or broken
  kNothingFound = 3,  ///< a valid question without an answer
  kCheckFailed = 4,   ///< something is not as it has to be: a file of ours, a kernel's result
  kInterrupted = 130
};

/// The one exception of every function here, but for std::bad_alloc. One sentence: what was wrong, where,
/// what would be right.
class Error : public std::runtime_error {
 public:
  Error(Code code, const std::string& sentence) : Error(code, sentence, sentence) {}
  Error(Code code, const std::string& sentence, std::string as_command)
      : std::runtime_error(sentence), code_(code), as_command_(std::move(as_command)) {}
  Code code() const { return code_; }
  /// The sentence with flags of the program, "--time", where what() names members of options, "time_s".
  const std::string& as_command() const { return as_command_; }

 private:
  Code code_;
  std::string as_command_;
};

/// Where the program lehr is, from which worker processes are started, compilers and libraries. A program of
/// another version than this library is an Error.
struct Tools : ToolPaths {
  Tools() {
    program = LEHR_PROGRAM;
    path = {"/usr/local/bin", "/usr/bin", "/bin"};
  }
};

/// Which device, and how it is used: the flags of `lehr tune` of the same names (docs/commands.md).
struct DeviceOptions {
  std::string device = "auto";  ///< "auto", "cpu", "cuda", "cuda:1"
  int threads = 0;              ///< CPU; 0: all that the process may use
  std::string isa = "native";   ///< "x86-64-v4", with features "x86-64-v4+avx512vnni+avx512bf16"
  bool cold = false;            ///< caches are swept before each timed call
  int jobs = 0;                 ///< compilers at once; 0: one for each CPU, 16 at most, one less with a GPU
  std::optional<bool> overlap = {};  ///< compile while others are timed; nullopt: where it does not disturb
  double run_timeout_s = 10;         ///< of a candidate's check and timing, beside what the fastest takes
  /// The caches of a CPU, at least: in a network each layer's weights evict those of the others.
  bool cold_cpu = false;
  /// For "auto": the GPU is taken where it can compute this.
  std::string workload = "gemm m=512 n=512 k=512";
  Tools tools = {};
  /// While it is set, what runs on the device comes to its end within a second or two, and is kept. May be
  /// set by any thread or signal handler. It outlives the device; nullptr: nothing ends it.
  const std::atomic<bool>* stop = nullptr;
};

/// A device of this machine with its compiler and what measures on it. One call at a time.
class Device {
 public:
  /// What was asked for by name and is not here is an Error that says what to do.
  explicit Device(const DeviceOptions& options = {});
  ~Device();
  Device(Device&&) noexcept;
  Device& operator=(Device&&) noexcept;

  const std::string& name() const;
  /// All that two measurements must have in common to be compared.
  std::string identity() const;
  /// Why "auto" did not take the GPU; "" where there was nothing to choose.
  const std::string& note() const;
  /// Why a workload cannot be tuned on it, a sentence; "": it can. An Error where the text is no workload.
  std::string why_not_served(const std::string& workload) const;

  struct State;
  State& state() const { return *state_; }  ///< for the functions below

 private:
  std::unique_ptr<State> state_;
};

/// The log of all trials, a SQLite file, opened by the first call that is to write to it, and made where
/// there is none. One call at a time; several processes and threads may have the same file open, each with a
/// Log of its own.
class Log {
 public:
  explicit Log(const std::string& path);
  ~Log();
  Log(Log&&) noexcept;
  Log& operator=(Log&&) noexcept;

  const std::string& path() const;

  struct State;
  State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// What goes on.
struct Progress {
  enum class Kind {
    kNote,     ///< `text` is a note about what is left out or not as usual
    kSetup,    ///< inputs and what is expected of them are computed
    kResumed,  ///< `text` says what earlier runs contribute
    kTrial,    ///< one candidate more is known
    kNewBest,  ///< the same, and it is the fastest so far
    kFitted,   ///< the cost model was fitted anew
    kFinals,   ///< the finalists are about to be timed against each other
    kStep      ///< `text` is what comes next, of optimize() and apply()
  };
  Kind kind = Kind::kNote;
  std::string text;  ///< one line, as `lehr tune` shows it
  double elapsed_s = 0;
  std::optional<double> left_s = {};  ///< until the end; nullopt: not known yet
  int trials = 0;
  double best_us = 0, default_us = 0;  ///< of several tasks that share their time the sums; 0: not timed
  bool shared = false;                 ///< several tasks share their time
  std::string json;                    ///< the line of `--progress json`
};

/// May be called from another thread than the caller's, one call at a time. What it throws ends nothing: it
/// is not called again.
using OnProgress = std::function<void(const Progress&)>;

/// A kernel's time, microseconds, with its 95 % interval; us 0: not timed, high 0: the interval is unknown.
struct Time {
  double us = 0, low = 0, high = 0;
};

/// What came of tuning one workload.
struct Result {
  std::string workload;  ///< canonical text
  std::string config;    ///< of the fastest kernel, of a range that for the most rows; "": nothing ran
  Time best, default_time;
  double speedup = 0;    ///< over the default; 0: not known
  std::string baseline;  ///< the fastest library; "": none was timed
  double baseline_us = 0;
  double baseline_speedup = 0;  ///< over that library; 0: none
  bool contested = false;       ///< the times are of finals, in turn; else of single trials
  bool provisional = false;     ///< there was no time to prove the fastest kernel
  int trials = 0;               ///< measured by this call
  Code code = Code::kDone;      ///< anything else: `failure` says why
  std::string failure;          ///< a sentence without a full stop
  std::string text;             ///< what `lehr tune` prints
  std::string json;             ///< the document of `lehr tune --json`, which has all that is known
};

/// What came of several; of all the worst code, its failure, and an overview.
struct Results {
  std::vector<Result> each;
  Code code = Code::kDone;
  std::string failure;
  std::string text;
  std::string json;
};

struct TuneOptions {
  int trials = 0;  ///< new ones of each workload; 0: no limit
  /// Of each workload, of a network for all of it. 0: no limit where there is one of trials, else 60, and 10
  /// for each workload of a network.
  double time_s = 0;
  int patience = 256;               ///< stop after so many trials without a gain; 0: never
  std::string strategy = "anneal";  ///< "anneal", "random", "genetic", "autotvm"
  std::uint64_t seed = 0;           ///< same seed and same log: same picks
  bool fresh = false;               ///< earlier rows of the log do not answer
  std::string transfer = "auto";    ///< hints of other tasks: "auto", "off", or the path of another log
  /// Libraries to compare with: "openblas,onednn"; "": the usual ones; "none": none.
  std::string baselines = {};
  bool winograd = true;  ///< also families that do fewer products than the sum has
  /// Of a network: "f32", or "bf16" for each of its places of f32 in bf16, too, where a family serves it so.
  std::string precision = "f32";
  bool deterministic_check = false;  ///< the winner runs twice, and its bits are compared
  /// Of a range of rows ("gemm m=1..2048 ..."): so many kernels cover it, at most. Its time is of all of it:
  /// 10 s for each size that is searched at where nothing is said.
  int kernels = 6;
  OnProgress on_progress = {};
  /// Gets each workload's result as soon as it is there.
  std::function<void(const Result&)> on_result = {};
};

/// Measures the default, searches, times the finalists against it and against libraries. Every trial is in
/// the log at once: a call that was cut off goes on with the same log and seed. `workload` is a canonical
/// text: "gemm m=512 n=512 k=512". Where DeviceOptions::stop is set the result's code is kInterrupted.
Result tune(const std::string& workload, Device& device, Log& log, const TuneOptions& options = {});
/// One after the other. Those that cannot be tuned here are notes; an Error where none can.
Results tune(const std::vector<std::string>& workloads, Device& device, Log& log,
             const TuneOptions& options = {});

/// A network in an ONNX file, and what its inputs' sizes are.
struct Model {
  std::string file;
  std::map<std::string, std::int64_t> dims = {};                 ///< of dimensions with a name: "batch"
  std::map<std::string, std::vector<std::int64_t>> inputs = {};  ///< shapes
};

struct ModelResult {
  double best_us = 0, default_us = 0, baseline_us = 0;  ///< of all places of its kernels
  int workloads = 0, trials = 0;
  Code code = Code::kDone;
  std::string failure;
  std::string text;
  std::string json;
};

/// All convolutions and products of a network, in turns: each turn goes where most is expected of it. On a
/// CPU the device is to be opened with `cold_cpu`, as the command does it.
ModelResult tune(const Model& model, Device& device, Log& log, const TuneOptions& options = {});

struct ExportOptions {
  std::string log = {},
              out = {};  ///< the log's file, and the folder to write; an old one is replaced in one step
  std::string workload = {}, device = {}, target = {}, family = {};  ///< only winners of these; "": all
  std::string isa = {};                                              ///< only winners made for it; "": all
  std::map<std::string, std::vector<std::int64_t>> buckets = {};     ///< sizes that may serve smaller ones
  bool embed = false;                                                ///< sources, no binaries
  /// Measures winners anew whose kernels cannot be made again as they were. One that was not proven always
  /// is.
  bool remeasure = false;
  Tools tools = {};
  const std::atomic<bool>* stop = nullptr;
  OnProgress on_progress = {};  ///< notes
};

struct Exported {
  int kernels = 0;
  int sets = 0;                      ///< of them, each for any number of rows of a product
  std::vector<std::string> skipped;  ///< a sentence for each winner that is not there
};

/// The winners of a log as a folder that a program links or loads (docs/deploy.md). An Error where there is
/// none.
Exported export_kernels(const ExportOptions& options);

struct ApplyOptions {
  std::string bundle = {}, out = {};  ///< what export_kernels() wrote; the folder to write
  /// Kernels tuned for so many; 0: the number that the bundle's are for or, where they are for several, all
  /// that the process may use. An Error where none is for it.
  int threads = 0;
  double time_s = 60;  ///< in which the engine tries which places pay, at most
  /// The largest difference from the original, as a share of an output's range; nullopt: 1e-4 or, of a
  /// network with places in bf16, what rounding explains (docs/models.md).
  std::optional<double> tolerance = {};
  std::uint64_t seed = 0;  ///< of the random inputs that both compute
  std::string feed = {};   ///< real inputs in their place: an .npz file; "": none
  bool winograd = true;
  /// "f32", or "bf16": places may be computed by kernels of bf16 where the network is faster so.
  std::string precision = "f32";
  bool ask_engine = true;  ///< whether outputs agree and what pays; else all that has a kernel is replaced
  Tools tools = {};
  /// While it is set nothing is waited for and nothing written; nullptr: never.
  const std::atomic<bool>* stop = nullptr;
  OnProgress on_progress = {};
};

/// An operator's share of a network's time.
struct Share {
  std::string what;
  double share = 0;
};

struct Applied {
  int places = 0, replaced = 0;  ///< convolutions and products; of these those that kernels compute now
  double original_us = 0, rewritten_us = 0, speedup = 0;  ///< in the engine; 0: not timed
  std::optional<double> error = {};          ///< the largest difference, as a share of an output's range
  std::optional<double> covered_share = {};  ///< of the original's time, what kernels took over
  std::vector<Share> not_covered = {};       ///< by operator, likewise; with covered_share they make 1
  Code code = Code::kDone;                   ///< kCheckFailed: nothing is written, `failure` says why
  std::string failure = {};
  /// It failed because nothing could be compared: ApplyOptions::feed gives real inputs, and `ask_engine`
  /// false does without the check.
  bool uncompared = false;
  std::string text = {};
  std::string json = {};
};

/// Writes a network that ONNX Runtime runs with a bundle's kernels (docs/models.md).
Applied apply(const Model& model, const ApplyOptions& options);

struct OptimizeOptions {
  std::string out = "faster";            ///< the folder to write
  std::string log = "lehr.db";           ///< the log's file
  int threads = 0;                       ///< 0: all that the process may use
  double time_s = 300;                   ///< of tuning and of trying what pays
  std::optional<double> tolerance = {};  ///< ApplyOptions
  std::string precision = "f32";         ///< "f32", "bf16"
  std::string feed = {};                 ///< ApplyOptions
  std::uint64_t seed = 0;
  Tools tools = {};
  const std::atomic<bool>* stop = nullptr;
  OnProgress on_progress = {};
};

struct Optimized {
  ModelResult tuned;
  Applied applied;
  Code code = Code::kDone;
  std::string failure;
  std::string text;
  std::string json;
};

/// Tunes a network on the CPU, exports its kernels and applies them.
Optimized optimize(const Model& model, const OptimizeOptions& options = {});

}  // namespace lehr::api
