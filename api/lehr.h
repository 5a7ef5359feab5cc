// Lehr from a program: open a device and a log, tune, export, apply. Start here. This header stays as it is
// within 0.x (docs/library.md).
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

#include "base/describe.h"
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

/// What there is to say of an option, beside the struct that has it. The program's flags and help, the checks
/// of values, Python's keywords and the sentences of errors are made of these rows. The flag of `time_s` is
/// --time, that of a bool which is true unless it is said otherwise --no-winograd.
struct OptionRow {
  const char* group;         ///< of the program's help: "Problem", "Filters", "Search", "Measuring", "Output"
  const char* help;          ///< what it does
  const char* flag = "";     ///< where it is another than the member's
  const char* usual = "";    ///< what 0, "" or nullopt stands for, which are valid then: "no limit"
  const char* choices = "";  ///< of a word, the default first: "f32 | bf16"
  /// Limits of a number. 0 and 0: any seed, a time from 0.1 s to 30 days, a share up to 1.
  std::int64_t least = 0, most = 0;
};

/// The most of them that an option can ask for.
inline constexpr std::int64_t kMostThreads = 1024, kMostTrials = 10'000'000;

/// The option that lets kernels of bf16 take part in a network.
void describe_precision(auto& option, auto& o) {
  option("precision", o.precision,
         {.group = "Problem",
          .help = "convolutions and products of a network also in bf16, where that is faster",
          .choices = "f32 | bf16"});
}

/// The option that names a log which is read.
void describe_log(auto& option, auto& o) {
  option("log", o.log,
         {.group = "Output", .help = "the trial log", .flag = "--db", .usual = "./lehr.db, or LEHR_DB"});
}

/// Which device, and how it is used.
struct DeviceOptions {
  std::string device = "auto";
  int threads = 0;
  std::string isa = "native";
  std::string caches = "usual";
  int jobs = 0;
  std::optional<bool> overlap = {};
  double run_timeout_s = 10;
  /// For "auto": the GPU is taken where it can compute this.
  std::string workload = "gemm m=512 n=512 k=512";
  Tools tools = {};
  /// While it is set, what runs on the device comes to its end within a second or two, and is kept. May be
  /// set by any thread or signal handler. It outlives the device; nullptr: nothing ends it.
  const std::atomic<bool>* stop = nullptr;
};

void describe(auto& option, Is<DeviceOptions> auto& o) {
  constexpr const char* kGroup = "Measuring";
  option("device", o.device,
         {.group = kGroup, .help = "auto | cpu | cuda:N", .usual = "auto: the GPU where there is one"});
  option("threads", o.threads,
         {.group = kGroup,
          .help = "CPU threads that a kernel may use",
          .usual = "all that are allowed",
          .least = 1,
          .most = kMostThreads});
  option("isa", o.isa,
         {.group = kGroup,
          .help = "what kernels for the CPU are made for: a level of its architecture, with features as "
                  "x86-64-v4+avx512vnni"});
  option("caches", o.caches,
         {.group = kGroup,
          .help = "what a timed call finds: usual: its inputs in a CPU's caches, or in a GPU's memory; "
                  "memory: a CPU's as each layer of a network finds them, its weights not in them (what "
                  "--model takes); cold: the same, and a GPU's swept",
          .choices = "usual | memory | cold"});
  option("jobs", o.jobs,
         {.group = kGroup,
          .help = "kernels compiled at once",
          .usual = "one per CPU, 16 at most; one less with a GPU",
          .least = 1,
          .most = 1024});
  option("overlap", o.overlap,
         {.group = kGroup,
          .help = "compile while others are timed",
          .usual = "auto: with a GPU, and where --threads and --jobs leave a CPU free",
          .choices = "auto | on | off"});
  option("run_timeout_s", o.run_timeout_s,
         {.group = kGroup,
          .help = "of a candidate's check and timing, on top of what the fastest so far takes for as many "
                  "calls"});
}

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
  int trials = 0;
  double time_s = 0;
  int patience = 256;
  std::string strategy = "anneal";
  std::uint64_t seed = 0;
  bool fresh = false;
  std::string transfer = "auto";
  std::string baselines = {};  ///< "openblas,onednn"; "none": nothing but the default
  bool winograd = true;
  std::string precision = "f32";
  bool deterministic_check = false;
  int kernels = 0;
  std::string shard = {};
  std::string publish = {};
  double publish_every_s = 60;
  OnProgress on_progress = {};
  /// Gets each workload's result as soon as it is there.
  std::function<void(const Result&)> on_result = {};
};

void describe(auto& option, Is<TuneOptions> auto& o) {
  constexpr const char* kGroup = "Search";
  option("trials", o.trials,
         {.group = kGroup,
          .help = "new candidates to measure per workload, those of a run that was cut off included",
          .usual = "no limit",
          .least = 0,
          .most = kMostTrials});
  option("time_s", o.time_s,
         {.group = kGroup,
          .help = "wall time per workload, of a model or a range of rows for all of it, finals included: "
                  "500ms, 60s, 2m; of each run: what a run that was cut off has spent does not count",
          .usual = "60s where no --trials is given, 10s per workload of a model and per size that a range is "
                   "searched at"});
  option("patience", o.patience,
         {.group = kGroup,
          .help = "stop after so many trials without a gain, when the model expects none; 0: never",
          .least = 0,
          .most = kMostTrials});
  option("strategy", o.strategy,
         {.group = kGroup,
          .help = "who picks candidates; autotvm has AutoTVM's settings",
          .choices = "anneal | random | autotvm"});
  option("seed", o.seed, {.group = kGroup, .help = "same seed and same log: same picks"});
  option(
      "transfer", o.transfer,
      {.group = kGroup, .help = "auto | off | FILE: hints from other tasks of the log, or of another log"});
  option("fresh", o.fresh, {.group = kGroup, .help = "do not reuse earlier rows of the log"});
  option("kernels", o.kernels,
         {.group = kGroup,
          .help = "of a range of rows, --m 1..2048: so many kernels cover it, at most",
          .usual = "6",
          .least = 1,
          .most = 64});
  option(
      "winograd", o.winograd,
      {.group = kGroup,
       .help = "without the families that do fewer products than a convolution's sum has, and round more"});
  option("baselines", o.baselines,
         {.group = "Measuring",
          .help = "vendor libraries to compare with, and where kernels are functions, unfused (the epilogue "
                  "as a pass of its own)",
          .flag = "--baseline",
          .usual = "the usual ones"});
  option("deterministic_check", o.deterministic_check,
         {.group = "Measuring",
          .help = "run the winner twice on the same input and compare the bits; exit code 4 if they differ"});
  option("shard", o.shard,
         {.group = "Problem",
          .help = "I/N: this process's part of the workloads, the first is 0/8; auto: of a Slurm job array",
          .usual = "all"});
  option(
      "publish", o.publish,
      {.group = "Output",
       .help = "a shared folder that gets copies of the log while it grows; what an earlier attempt at the "
               "shard left there is taken over",
       .usual = "none"});
  option("publish_every_s", o.publish_every_s, {.group = "Output", .help = "between two copies: 30s, 5m"});
  describe_precision(option, o);
}

/// Measures the default, searches, times the finalists against it and against libraries. Every trial is in
/// the log at once: a call that was cut off goes on with the same log and seed. `workload` is a canonical
/// text: "gemm m=512 n=512 k=512". Where DeviceOptions::stop is set the result's code is kInterrupted.
Result tune(const std::string& workload, Device& device, Log& log, const TuneOptions& options = {});
/// One after the other. Those that cannot be tuned here are notes; an Error where none can.
Results tune(const std::vector<std::string>& workloads, Device& device, Log& log,
             const TuneOptions& options = {});

/// The size of a dimension: one number, or any from `least` to `most`.
struct DimSize {
  DimSize(std::int64_t size) : least(size), most(size) {}
  DimSize(std::int64_t from, std::int64_t to) : least(from), most(to) {}
  std::int64_t least, most;
};

/// A network in an ONNX file, and what its inputs' sizes are.
struct Model {
  std::string file;
  /// Sizes by the names of dimensions: "batch". One dimension may have a range. A product is then tuned for
  /// all of it where nothing but its number of rows varies; other places stay the engine's.
  std::map<std::string, DimSize> dims = {};
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
/// CPU the device is to be opened with `caches` "memory", as the command does it.
ModelResult tune(const Model& model, Device& device, Log& log, const TuneOptions& options = {});

/// The options that say which winners of a log are meant; "": all.
void describe_filter(auto& option, auto& o) {
  constexpr const char* kGroup = "Filters";
  option("workload", o.workload,
         {.group = kGroup,
          .help = "a workload's text: \"gemm m=512 n=512 k=512\" (missing keys have their defaults)"});
  option("device", o.device, {.group = kGroup, .help = "any part of the device's identity"});
  option("target", o.target, {.group = kGroup, .help = "cpu | cuda"});
  option("family", o.family, {.group = kGroup, .help = "kernel family"});
}

/// The option that lets a folder be written a second time.
void describe_replace(auto& option, auto& o) {
  option("replace", o.replace,
         {.group = "Output",
          .help = "take the place of a folder that an earlier run wrote, with all that is in it"});
}

struct ExportOptions {
  std::string log = {};  ///< its file
  std::string out = {};
  bool replace = false;
  std::string workload = {}, device = {}, target = {}, family = {};
  std::string isa = {};
  std::string name = "kernels";
  std::string rename = {};  ///< "rowwise_n768_1a2b3c4d=layer_norm,...": functions by other names
  bool remeasure = false;
  Tools tools = {};
  const std::atomic<bool>* stop = nullptr;
  OnProgress on_progress = {};  ///< notes
};

void describe(auto& option, Is<ExportOptions> auto& o) {
  describe_filter(option, o);
  option("isa", o.isa, {.group = "Filters", .help = "only winners that were made for it", .usual = "all"});
  describe_log(option, o);
  option("out", o.out, {.group = "Output", .help = "the folder to write, a new or an empty one"});
  describe_replace(option, o);
  option("name", o.name,
         {.group = "Output",
          .help = "what the library's files and functions begin with: small letters, digits, '_'"});
  option("rename", o.rename,
         {.group = "Output",
          .help = "names of functions in place of those that follow from their workloads: "
                  "rowwise_n768_1a2b3c4d=layer_norm, with commas between several"});
  option("remeasure", o.remeasure,
         {.group = "Measuring",
          .help = "check and time winners that cannot be made again as they were measured, as this version "
                  "makes them, where their device is at hand"});
}

struct Exported {
  int kernels = 0;
  int functions = 0;
  std::vector<std::string> skipped;  ///< a sentence for each winner that is not there
};

/// The winners of a log as a library with a function for each workload (docs/deploy.md). An Error where there
/// is none.
Exported export_kernels(const ExportOptions& options);

/// The options that say how a network's outputs are compared with the original's.
void describe_check(auto& option, auto& o) {
  constexpr const char* kGroup = "Measuring";
  option("tolerance", o.tolerance,
         {.group = kGroup,
          .help = "largest difference from the original's outputs, as a share of their range",
          .usual = "1e-4; with places in bf16 twice what rounding their inputs comes to"});
  option("feed", o.feed,
         {.group = kGroup,
          .help = "real inputs in place of random ones: a .npz file with an array for each, or for some of "
                  "them"});
}

struct ApplyOptions {
  std::string bundle = {}, out = {};
  bool replace = false;
  int threads = 0;
  double time_s = 60;
  std::optional<double> tolerance = {};
  std::uint64_t seed = 0;
  std::string feed = {};
  bool winograd = true;
  std::string precision = "f32";
  bool ask_engine = true;
  Tools tools = {};
  /// While it is set nothing is waited for and nothing written; nullptr: never.
  const std::atomic<bool>* stop = nullptr;
  OnProgress on_progress = {};
};

void describe(auto& option, Is<ApplyOptions> auto& o) {
  constexpr const char* kGroup = "Measuring";
  option("bundle", o.bundle,
         {.group = "Problem", .help = "the folder with kernels that `lehr export` has written"});
  describe_precision(option, o);
  option(
      "winograd", o.winograd,
      {.group = "Problem",
       .help = "leave to the engine what only a kernel computes that does fewer products, and rounds more"});
  option("threads", o.threads,
         {.group = kGroup,
          .help = "the kernels tuned for so many; right with any number of the engine's",
          .usual = "those that the bundle's are for; all that are allowed where they are for several",
          .least = 1,
          .most = kMostThreads});
  option("time_s", o.time_s,
         {.group = kGroup, .help = "in which ONNX Runtime tries which places pay, at most: 30s, 2m"});
  describe_check(option, o);
  option("seed", o.seed, {.group = kGroup, .help = "of the random inputs that both compute"});
  option("ask_engine", o.ask_engine,
         {.group = kGroup,
          .help = "do not ask ONNX Runtime whether outputs agree and what pays, though it is here",
          .flag = "--no-engine"});
  option("out", o.out,
         {.group = "Output", .help = "the folder to write: model.onnx, the plug-in, the kernels"});
  describe_replace(option, o);
}

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
  /// It failed because nothing could be compared: ApplyOptions::feed gives real inputs, and
  /// `ask_engine` false does without the check.
  bool uncompared = false;
  std::string text = {};
  std::string json = {};
};

/// Writes a network that ONNX Runtime runs with a bundle's kernels (docs/models.md).
Applied apply(const Model& model, const ApplyOptions& options);

struct OptimizeOptions {
  std::string out = "faster";
  bool replace = false;
  std::string log = "lehr.db";  ///< its file
  int threads = 0;
  double time_s = 300;
  std::optional<double> tolerance = {};
  std::string precision = "f32";
  std::string feed = {};
  std::uint64_t seed = 0;
  Tools tools = {};
  const std::atomic<bool>* stop = nullptr;
  OnProgress on_progress = {};
};

void describe(auto& option, Is<OptimizeOptions> auto& o) {
  describe_precision(option, o);
  option("time_s", o.time_s, {.group = "Search", .help = "for all of it: 60s, 5m"});
  option("threads", o.threads,
         {.group = "Measuring",
          .help = "CPU threads that the network is to run with",
          .usual = "all that are allowed",
          .least = 1,
          .most = kMostThreads});
  option("seed", o.seed,
         {.group = "Search",
          .help = "same seed and same log: same picks; also of the random inputs that both compute"});
  describe_check(option, o);
  option("out", o.out,
         {.group = "Output", .help = "the folder to write: model.onnx, the plug-in, the kernels"});
  describe_replace(option, o);
  option("log", o.log,
         {.group = "Output",
          .help = "the trial log; earlier rows are reused",
          .flag = "--db",
          .usual = "./lehr.db, or LEHR_DB"});
}

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
