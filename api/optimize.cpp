// Tunes, exports and applies a network.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <nlohmann/json.hpp>
#include <set>

#include "api/apply.h"
#include "api/export.h"
#include "api/sessions.h"
#include "apply/branches.h"
#include "apply/report.h"
#include "apply/rewrite.h"
#include "apply/size_condition.h"
#include "base/describe_json.h"
#include "deploy/applied_folder.h"
#include "deploy/onnxruntime_plugin.h"
#include "measure/core/format.h"
#include "measure/host/host_backend.h"
#include "measure/system/temp_dir.h"
#include "workload/workload.h"

namespace lehr::api {

void describe(auto& field, const Share& share) {
  field("operator", share.what);
  field("share", share.share);
}

namespace {

/// Time in which the engine finds out which matches pay. kLeastTrying_s and kMostTrying_s: limits of the
/// seconds that apply() gets, which also checks outputs. kTryingShare: fraction that tuning leaves for this
/// of all time above kShort_s seconds.
constexpr double kLeastTrying_s = 2, kMostTrying_s = 60, kTryingShare = 0.2, kShort_s = 20;
/// Upper limit of the bytes of object files that tuning keeps for the library.
constexpr std::int64_t kObjectBytes = std::int64_t{64} << 20;
/// If the run takes longer than the requested time by this factor, the report gives the reason.
constexpr double kLate = 1.1;

/// Estimates the seconds that optimize() needs after tuning, without the time for trying which matches pay.
/// kCompilations: number of kernels whose compilation takes as long as compiling the library's own code and
/// linking. kInferences: number of the engine's inferences, with inputs of all kinds. kSecondsForEachByte:
/// writing and loading the network. kRest_s: everything else.
double behind_s(double sum_us, double compile_s, std::size_t bytes) {
  constexpr double kCompilations = 14, kInferences = 300, kSecondsForEachByte = 2e-8, kRest_s = 1.5;
  return kCompilations * compile_s + kInferences * sum_us * 1e-6 +
         kSecondsForEachByte * static_cast<double>(bytes) + kRest_s;
}

class Clock {
 public:
  double elapsed_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  }

 private:
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

Device open_cpu(const OptimizeOptions& options) {
  DeviceOptions device;
  // The device is the target whose kernels are functions, since an engine calls them with its own threads.
  device.device = name_of(
      *std::ranges::find_if(kTargets, [](Target target) { return target.has(Feature::kHostFunction); }));
  device.threads = options.threads;
  device.caches = "memory";
  device.tools = options.tools;
  device.stop = options.stop;
  return Device(device);
}

TuneOptions tuning(const OptimizeOptions& options) {
  TuneOptions tuning;
  tuning.time_s = options.time_s;
  tuning.precision = options.precision;
  tuning.seed = options.seed;
  tuning.baselines = "none";  // the result does not depend on the speed of libraries
  return tuning;
}

/// Returns the workloads of a tuned network that its fastest form is expected to use. If it uses a workload
/// in bf16, the set also has all workloads that are not in bf16, since bf16 may turn out to be too
/// inaccurate.
std::set<std::string> workloads_of(const nlohmann::json& tuned) {
  const auto is_narrow = [](const nlohmann::json& task) {
    return tensors_of(parse_workload(task.at("workload").get<std::string>()))[0].type == DType::kBF16;
  };
  const nlohmann::json& tasks = tuned.at("tasks");
  const bool narrow = std::ranges::any_of(
      tasks, [&](const nlohmann::json& task) { return task.at("uses") > 0 && is_narrow(task); });
  std::set<std::string> workloads;
  for (const nlohmann::json& task : tasks)
    if (task.at("uses") > 0 || (narrow && !is_narrow(task))) workloads.insert(task.at("workload"));
  return workloads;
}

ExportOptions exporting(const OptimizeOptions& options, const Device& device, const std::string& folder) {
  ExportOptions exporting;
  exporting.log = options.log;
  exporting.out = folder + "/kernels";
  exporting.device = device.identity();
  exporting.tools = options.tools;
  return exporting;
}

ApplyOptions applying(const OptimizeOptions& options, const std::string& bundle, int threads,
                      double seconds) {
  ApplyOptions applying;
  applying.bundle = bundle;
  applying.out = options.out;
  applying.replace = options.replace;
  applying.threads = threads;
  applying.time_s = std::clamp(seconds, kLeastTrying_s, kMostTrying_s);
  applying.tolerance = options.tolerance;
  applying.precision = options.precision;
  applying.seed = options.seed;
  applying.feed = options.feed;
  applying.tools = options.tools;
  applying.stop = options.stop;
  applying.on_progress = options.on_progress;
  return applying;
}

/// Makes the text and the document of `lehr optimize` from the documents of `lehr tune` and `lehr apply`.
void tell_all(const NetworkFile& model, const OptimizeOptions& options, int threads,
              const nlohmann::json& tuned, const nlohmann::json& rewritten, Optimized& result) {
  const Applied& applied = result.applied;
  const nlohmann::json document = Fields{[&](auto& field) {
    field("model", model.file);
    field("out", options.out);
    field("threads", threads);
    field("speedup", Known{applied.speedup});
    field("original_us", Known{applied.original_us});
    field("rewritten_us", Known{applied.rewritten_us});
    field("error", applied.error);
    field("covered_share", applied.covered_share);
    field("not_covered", applied.not_covered);
    field("replaced", applied.replaced);
    field("places", applied.matches);
    field("database", options.log);
    field("tune", tuned);
    field("apply", rewritten);
  }};
  result.json = dumped(document);
  result.text = fmt::format("\n{} trials of {} workloads: {} for all, {} with the defaults\n{}",
                            result.tuned.trials, result.tuned.workloads, format_time_us(result.tuned.best_us),
                            format_time_us(result.tuned.default_us), applied.text);
}

Optimized optimized(const NetworkFile& model, const OptimizeOptions& options) {
  check(options);
  check_named("--out", options.out);
  const Clock clock;
  check_out_folder(options.out, options.replace, {model.file, options.feed, options.log});
  Reporter silent({});
  // Errors in the network's file are found here, before tuning starts.
  const Network network = read_network(model, silent);
  check_tunable(model, network);
  expect_branches(network.model, size_checks(network.model, network.shapes, node_form(network).other_end));
  const ApplyOptions fed = applying(options, "", options.threads, 0);
  EngineCheck check = engine_check(model, fed);
  feed(network.model, fed, check);
  Reporter reporter(options.on_progress);
  Device device = open_cpu(options);
  Compiler& compiler = *device.state().open.compiler;
  compiler.keep_objects(kObjectBytes);
  device.state().opening_s = clock.elapsed_s();
  const int threads = device.state().open.device.limits.cores;
  Log log(options.log);
  Optimized result;
  nlohmann::json tuned, rewritten;
  const auto kept_s = [&](double sum_us, double compile_s) {
    return behind_s(sum_us, compile_s, network.model.bytes->size()) +
           kTryingShare * std::max(0.0, options.time_s - kShort_s);
  };
  result.tuned = tune_network(model, device, log, tuning(options), reporter, tuned, kept_s);
  std::tie(result.code, result.failure) = std::tie(result.tuned.code, result.tuned.failure);
  if (result.code != Code::kDone) return result;
  const TempDir folder(options.tools.scratch);
  reporter.step("compiling the fastest kernels");
  // The plug-in is compiled at the same time as the library's own code.
  const std::shared_future<FolderFile> plugin = std::async(std::launch::async, [&] {
    return onnxruntime_plugin(options.tools.program, host_compiler_options(options.tools));
  });
  const ExportOptions kernels = exporting(options, device, folder.path());
  // Kernels may be unproven, since apply compares the network's outputs, which proves them.
  for (const std::string& each :
       export_of(kernels, workloads_of(tuned), Unproven::kTake, Parts::kSharedLibrary, &compiler).skipped)
    reporter.note(each);
  const double left_s = options.time_s - clock.elapsed_s();
  result.applied = applied_to(model, applying(options, kernels.out, threads, left_s), rewritten, plugin);
  std::tie(result.code, result.failure) = std::tie(result.applied.code, result.applied.failure);
  if (clock.elapsed_s() > kLate * options.time_s)
    reporter.note(
        fmt::format("it took {:.0f} s: linking the kernels and checking the network with inputs of all kinds "
                    "take as long as they take",
                    clock.elapsed_s()));
  tell_all(model, options, threads, tuned, rewritten, result);
  return result;
}

}  // namespace

Optimized optimize(const NetworkFile& model, const OptimizeOptions& options) {
  OptimizeOptions harmless_ones = options;
  harmless_ones.on_progress = harmless(options.on_progress);
  return guarded([&] { return optimized(model, harmless_ones); });
}

}  // namespace lehr::api
