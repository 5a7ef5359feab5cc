// Lehr from a program: open a device and a log, tune, export, apply. Start here. This header does not change
// within 0.x (docs/library.md).
//
// No function here reads the environment, prints, or installs a signal handler. Several threads may work at
// the same time, each with its own device and log.
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
// Set by find_package(lehr) to the path of the program that is installed with the libraries.
#define LEHR_PROGRAM ""
#endif

namespace lehr::api {

/// The outcome of a call, which tells who can fix a failure. The numbers are the program's exit codes.
enum class Code {
  kDone = 0,
  kWrongInput = 1,
  kMissing = 2,       ///< something on this machine is missing or broken
  kNothingFound = 3,  ///< the call is valid, but nothing was found
  /// A check failed: a kernel computes wrong results, or a file that Lehr has written is damaged.
  kCheckFailed = 4,
  kInterrupted = 130
};

/// The only exception, besides std::bad_alloc, that functions of this header throw. Its text is one sentence:
/// what was wrong, where, and what would be right.
class Error : public std::runtime_error {
 public:
  Error(Code code, const std::string& sentence) : Error(code, sentence, sentence) {}
  Error(Code code, const std::string& sentence, std::string as_command)
      : std::runtime_error(sentence), code_(code), as_command_(std::move(as_command)) {}
  Code code() const { return code_; }
  /// Returns the sentence as the program prints it. It has flags ("--time") in place of the members of
  /// options that what() names ("time_s").
  const std::string& as_command() const { return as_command_; }

 private:
  Code code_;
  std::string as_command_;
};

/// Where to find compilers, libraries and the program lehr, which runs as the worker process. Calls throw an
/// Error if the program has another version than this library.
struct Tools : ToolPaths {
  Tools() {
    program = LEHR_PROGRAM;
    path = {"/usr/local/bin", "/usr/bin", "/bin"};
  }
};

/// Describes one option. The function describe() after each struct of options has a row for each. The
/// program's flags and help, the checks of values, Python's keywords and the sentences of errors are made
/// from these rows. The flag of `time_s` is --time. The flag of a bool that is true by default is --no-NAME:
/// --no-winograd.
struct OptionRow {
  const char* group;  ///< group in the program's help: "Problem", "Filters", "Search", "Measuring", "Output"
  const char* help;   ///< what it does
  const char* flag = "";  ///< the flag, if it does not follow from the member's name
  /// Meaning of the values 0, "" or nullopt, such as "no limit"; they are valid only if this is set.
  const char* usual = "";
  const char* choices = "";  ///< words that are valid, the default first: "f32 | bf16"
  /// Limits of a number. If both are 0, the limits follow from the type: any seed, a time from 0.1 s to 30
  /// days, a share up to 1.
  std::int64_t least = 0, most = 0;
};

/// Largest numbers of threads and trials that an option may ask for.
inline constexpr std::int64_t kMostThreads = 1024, kMostTrials = 10'000'000;

/// Describes the option that permits kernels in bf16 in a network.
void describe_precision(auto& option, auto& o) {
  option("precision", o.precision,
         {.group = "Problem",
          .help = "convolutions and products of a network also in bf16, where that is faster",
          .choices = "f32 | bf16"});
}

/// Describes the option that names a log to read.
void describe_log(auto& option, auto& o) {
  option("log", o.log,
         {.group = "Output", .help = "the trial log", .flag = "--db", .usual = "./lehr.db, or LEHR_DB"});
}

/// Which device to use, and how.
struct DeviceOptions {
  std::string device = "auto";
  int threads = 0;
  std::string isa = "native";
  std::string caches = "usual";
  int jobs = 0;
  std::optional<bool> overlap = {};
  double run_timeout_s = 10;
  /// With `device` "auto", the GPU is used if it can compute this workload.
  std::string workload = "gemm m=512 n=512 k=512";
  Tools tools = {};
  /// Set it to true to end work on the device within a second or two. Finished measurements are kept. Any
  /// thread or signal handler may set it. It must outlive the device. nullptr: nothing ends the work early.
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

/// A device of this machine, with the compiler and the worker process for its kernels. Only one call at a
/// time may use it.
class Device {
 public:
  /// Opens the device. If a device, library or level that the options name is missing, throws an Error that
  /// says what to do.
  explicit Device(const DeviceOptions& options = {});
  ~Device();
  Device(Device&&) noexcept;
  Device& operator=(Device&&) noexcept;

  const std::string& name() const;
  /// Returns a text with all facts about the device that affect times. Measurements are comparable only if
  /// their identities are equal.
  std::string identity() const;
  /// Returns why "auto" did not take the GPU; "" if there was no choice to make.
  const std::string& note() const;
  /// Explains in one sentence why the workload cannot be tuned on this device; "" if it can. Throws an Error
  /// if the text is not a valid workload.
  std::string why_not_served(const std::string& workload) const;

  struct State;
  State& state() const { return *state_; }  ///< used by the functions below

 private:
  std::unique_ptr<State> state_;
};

/// The log of all trials, a SQLite file. The first call that uses the log opens or creates the file. Only one
/// call at a time may use a Log, but several processes and threads may open the same file, each with its own
/// Log.
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

/// An event of a session, as a callback gets it.
struct Progress {
  enum class Kind {
    kNote,     ///< `text` reports something that is left out or unusual
    kSetup,    ///< inputs and expected outputs are being computed
    kResumed,  ///< `text` says what earlier runs contribute
    kTrial,    ///< one more candidate has been measured
    kNewBest,  ///< one more candidate has been measured, and it is the fastest so far
    kFitted,   ///< the cost model was fitted again
    kFinals,   ///< the finalists are about to be timed against each other
    kStep      ///< `text` names the next step of optimize() or apply()
  };
  Kind kind = Kind::kNote;
  std::string text;  ///< one line, as `lehr tune` shows it
  double elapsed_s = 0;
  std::optional<double> left_s = {};  ///< seconds until the end; nullopt: not known yet
  int trials = 0;
  /// Times of the fastest and of the default kernel in microseconds; 0: not timed. If several tasks share
  /// their time, sums over these tasks.
  double best_us = 0, default_us = 0;
  bool shared = false;  ///< whether several tasks share one time limit
  std::string json;     ///< the line that `--progress json` prints
};

/// A callback for events. Any thread may call it, but never two at the same time. If it throws, it is not
/// called again, and the work goes on.
using OnProgress = std::function<void(const Progress&)>;

/// A kernel's time in microseconds with its 95 % interval. If `us` is 0, the kernel was not timed. If `high`
/// is 0, the interval is not known.
struct Time {
  double us = 0, low = 0, high = 0;
};

/// The result of tuning one workload.
struct Result {
  std::string workload;  ///< canonical text
  /// Config of the fastest kernel; for a range of rows, config of the kernel for the most rows. "": no kernel
  /// ran.
  std::string config;
  Time best, default_time;
  double speedup = 0;    ///< speedup of the fastest kernel over the default; 0: not known
  std::string baseline;  ///< name of the fastest library; "": no library was timed
  double baseline_us = 0;
  double baseline_speedup = 0;  ///< speedup of the fastest kernel over that library; 0: no library was timed
  /// Whether the times come from finals, in which kernels are timed in turns. If false, they come from single
  /// trials.
  bool contested = false;
  bool provisional = false;  ///< whether there was no time to prove the fastest kernel
  int trials = 0;            ///< number of candidates that this call measured
  Code code = Code::kDone;   ///< if it is not kDone, `failure` says why
  std::string failure;       ///< a sentence without a full stop
  std::string text;          ///< the text that `lehr tune` prints
  std::string json;          ///< the document of `lehr tune --json`, which has all facts about the result
};

/// The results of several workloads. `code` is the worst code of all results, `failure` belongs to it, and
/// `text` is an overview.
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
  std::string baselines = {};  ///< "openblas,onednn"; "none": compare with the default alone
  bool winograd = true;
  std::string precision = "f32";
  bool deterministic_check = false;
  int kernels = 0;
  std::string shard = {};
  std::string publish = {};
  double publish_every_s = 60;
  OnProgress on_progress = {};
  /// Called with each workload's result as soon as it is known.
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

/// Measures the default, searches, and times the finalists against the default and against libraries.
/// `workload` is its text: "gemm m=512 n=512 k=512". Each trial is written to the log at once. After an
/// interruption, a call with the same log and seed continues the work. If DeviceOptions::stop becomes true,
/// the result's code is kInterrupted.
Result tune(const std::string& workload, Device& device, Log& log, const TuneOptions& options = {});
/// Tunes workloads one after the other. A workload that cannot be tuned on the device is reported as a note.
/// Throws an Error if no workload can be tuned.
Results tune(const std::vector<std::string>& workloads, Device& device, Log& log,
             const TuneOptions& options = {});

/// The size of a dimension: a fixed number, or any number from `least` to `most`.
struct DimSize {
  DimSize(std::int64_t size) : least(size), most(size) {}
  DimSize(std::int64_t from, std::int64_t to) : least(from), most(to) {}
  std::int64_t least, most;
};

/// A network in an ONNX file, with the sizes of its inputs.
struct NetworkFile {
  std::string file;
  /// Sizes, by the names of dimensions such as "batch". One dimension may have a range. If only the number of
  /// rows of a product varies with it, the product is tuned for the whole range. All other matches that vary
  /// stay the engine's.
  std::map<std::string, DimSize> dims = {};
  std::map<std::string, std::vector<std::int64_t>> inputs = {};  ///< shapes, by the names of inputs
};

struct NetworkResult {
  /// Times in microseconds, summed over all matches: the fastest kernels, the default kernels, the libraries.
  double best_us = 0, default_us = 0, baseline_us = 0;
  int workloads = 0, trials = 0;
  Code code = Code::kDone;
  std::string failure;
  std::string text;
  std::string json;
};

/// Tunes all convolutions and products of a network, in turns. Each turn goes to the workload with the
/// largest expected gain. On a CPU, open the device with DeviceOptions::caches "memory", as the command does.
NetworkResult tune(const NetworkFile& model, Device& device, Log& log, const TuneOptions& options = {});

/// Describes the options that filter the winners of a log. An option that is "" filters nothing.
void describe_filter(auto& option, auto& o) {
  constexpr const char* kGroup = "Filters";
  option("workload", o.workload,
         {.group = kGroup,
          .help = "a workload's text: \"gemm m=512 n=512 k=512\" (missing keys have their defaults)"});
  option("device", o.device, {.group = kGroup, .help = "any part of the device's identity"});
  option("target", o.target, {.group = kGroup, .help = "cpu | cuda"});
  option("family", o.family, {.group = kGroup, .help = "kernel family"});
}

/// Describes the option that permits replacing a folder.
void describe_replace(auto& option, auto& o) {
  option("replace", o.replace,
         {.group = "Output",
          .help = "take the place of a folder that an earlier run wrote, with all that is in it"});
}

struct ExportOptions {
  std::string log = {};  ///< path of the log's file
  std::string out = {};
  bool replace = false;
  std::string workload = {}, device = {}, target = {}, family = {};
  std::string isa = {};
  std::string name = "kernels";
  std::string rename = {};  ///< new names of functions: "rowwise_n768_1a2b3c4d=layer_norm,..."
  bool remeasure = false;
  Tools tools = {};
  const std::atomic<bool>* stop = nullptr;
  OnProgress on_progress = {};  ///< gets notes
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
  std::vector<std::string> skipped;  ///< a sentence for each winner that was left out
};

/// Exports the winners of a log as a library with a function for each workload (docs/deploy.md). Throws an
/// Error if there is no winner.
Exported export_kernels(const ExportOptions& options);

/// Describes the options for comparing a network's outputs with the original's.
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
  /// Set it to true to end the call soon, without writing anything. nullptr: nothing ends the call early.
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
  /// Number of matches in the network, and number of matches that kernels compute now.
  int matches = 0, replaced = 0;
  /// Times of the whole network in the engine, and their ratio; 0: not timed.
  double original_us = 0, rewritten_us = 0, speedup = 0;
  /// Largest difference from the original's outputs, as a share of an output's range.
  std::optional<double> error = {};
  std::optional<double> covered_share = {};  ///< share of the original's time that kernels took over
  /// Shares of the original's time that other operators take. With covered_share they sum to 1.
  std::vector<Share> not_covered = {};
  Code code = Code::kDone;  ///< kCheckFailed: nothing was written, and `failure` says why
  std::string failure = {};
  /// Whether the call failed because nothing could be compared. Then give real inputs in ApplyOptions::feed,
  /// or set ApplyOptions::ask_engine to false to skip the check.
  bool uncompared = false;
  std::string text = {};
  std::string json = {};
};

/// Writes a version of a network that ONNX Runtime runs with the kernels of a bundle (docs/models.md).
Applied apply(const NetworkFile& model, const ApplyOptions& options);

struct OptimizeOptions {
  std::string out = "faster";
  bool replace = false;
  std::string log = "lehr.db";  ///< path of the log's file
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
  NetworkResult tuned;
  Applied applied;
  Code code = Code::kDone;
  std::string failure;
  std::string text;
  std::string json;
};

/// Tunes a network on the CPU, exports its kernels and applies them to it.
Optimized optimize(const NetworkFile& model, const OptimizeOptions& options = {});

}  // namespace lehr::api
