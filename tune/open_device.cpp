#include "tune/open_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "base/error.h"
#include "measure/host/host_backend.h"
#include "measure/system/affinity.h"
#include "measure/vendor/onnxruntime/trial.h"
#include "measure/worker/backends.h"
#include "measure/worker/baselines.h"
#include "measure/worker/local_measurer.h"
#include "tune/task.h"

namespace lehr {
namespace {

/// Returns nullopt if `workload` can be tuned on `device`, else a sentence.
std::optional<std::string> why_not(const Device& device, const Workload& workload, const ToolPaths& tools) {
  const Backend& backend = backend_of(device.limits.target);
  if (backend.why_no_compiler != nullptr)
    if (const auto missing = backend.why_no_compiler(tools)) return missing;
  return why_not_served(workload, device.limits, [](const std::string&) {});
}

/// Returns the variables that worker processes get beyond our environment. With them vendor libraries, and
/// the libraries that these load, are found where the target's other libraries are.
std::vector<std::string> worker_environment(const Backend& backend, const ToolPaths& tools) {
  std::vector<std::string> folders = backend.library_folders(tools);
  if (folders.empty()) return {};
  if (!tools.library_path.empty()) folders.insert(folders.begin(), tools.library_path);
  return {fmt::format("LD_LIBRARY_PATH={}", fmt::join(folders, ":"))};
}

/// Throws the reason why a device that was asked for by name cannot be used.
[[noreturn]] void refuse(const Backend& backend, int ordinal, const std::string& reason,
                         const ToolPaths& tools) {
  const auto no_compiler = backend.why_no_compiler != nullptr ? backend.why_no_compiler(tools) : std::nullopt;
  throw_environment("--device {}{} cannot be used: {}{}; {}", name_of(backend.target),
                    backend.numbered ? fmt::format(":{}", ordinal) : "", reason,
                    no_compiler ? "; " + *no_compiler : "", backend.instead);
}

}  // namespace

Device choose_device(const DeviceChoice& choice, const Workload& workload, const ToolPaths& tools,
                     bool measure_rates, std::string& note) {
  const std::string missing = choice.isa.level == nullptr ? "" : missing_for(choice.isa, tools);
  if (!missing.empty())
    throw_environment(
        "--isa {} cannot be used: its kernels need {}, which this processor lacks; lehr doctor says which "
        "levels it runs",
        name_of(choice.isa), missing);
  DeviceRequest request = {choice.ordinal, choice.threads, choice.isa, measure_rates};
  for (const Backend* backend : std::views::reverse(backends())) {
    if (!choice.automatic && backend->target != choice.target) continue;
    if (backend->on_host && choice.isa.level == nullptr) request.isa = native_isa(tools);
    std::string reason;
    std::optional<Device> device = backend->find(request, reason);
    if (!device && !choice.automatic) refuse(*backend, choice.ordinal, reason, tools);
    if (!device) continue;
    const bool last = backend == backends().front();
    const std::optional<std::string> unfit =
        choice.automatic && !last ? why_not(*device, workload, tools) : std::nullopt;
    if (!unfit) {
      device->cold = choice.caches == Caches::kCold || (choice.caches == Caches::kMemory && backend->on_host);
      return *std::move(device);
    }
    note = fmt::format("{} is there but not used: {}", device->name, *unfit);
  }
  throw_environment("this machine has no device to run kernels on");
}

Device identified_device(const DeviceChoice& choice, const Workload& workload, const ToolPaths& tools,
                         std::string& note) {
  Device device = choose_device(choice, workload, tools, false, note);
  device.compiler = make_compiler(device.limits, tools, {1, choice.isa})->identity();
  return device;
}

std::optional<DeviceChoice> device_at_hand(const std::string& identity, const std::string& target,
                                           const OpenOptions& options) {
  const std::optional<Target> known = target_named(target);
  if (!known) return std::nullopt;
  const Backend& backend = backend_of(*known);
  const int most = backend.on_host ? static_cast<int>(allowed_cpus().size()) : kMostDevices;
  for (int i = 0; i < most; ++i) {
    DeviceChoice choice;
    choice.automatic = false;
    choice.target = *known;
    choice.isa = isa_of_identity(identity);
    (backend.on_host ? choice.threads : choice.ordinal) = backend.on_host ? i + 1 : i;
    std::string reason;
    std::optional<Device> device = backend.find({choice.ordinal, choice.threads, choice.isa, false}, reason);
    if (!device) return std::nullopt;
    if (!identity.starts_with(identity_of(*device)))
      continue;  // all but the compiler, which takes time to query
    device->compiler = make_compiler(device->limits, options.tools, {1, choice.isa})->identity();
    for (const Caches caches : {Caches::kUsual, Caches::kCold}) {
      choice.caches = caches;
      device->cold = caches == Caches::kCold;
      if (identity_of(*device) == identity) return choice;
    }
  }
  return std::nullopt;
}

std::vector<std::string> usual_baselines(Target target) {
  std::vector<std::string> names = default_baselines(target);
  if (target.has(Feature::kHostFunction)) names.emplace_back(kUnfused);
  return names;
}

OpenDevice open_device(const DeviceChoice& choice, const Workload& workload, const OpenOptions& open) {
  OpenDevice setup;
  setup.supervisor = supervise(open.tools);
  setup.device = choose_device(choice, workload, open.tools, open.timings == Timings::kFull, setup.note);
  const Backend& backend = backend_of(setup.device.limits.target);
  const auto cpus = static_cast<int>(allowed_cpus().size());
  const int usual_jobs = std::clamp(backend.on_host ? cpus : cpus - 1, 1, kMostUsualJobs);
  const int jobs = open.jobs != 0 ? open.jobs : usual_jobs;
  setup.compiler = make_compiler(setup.device.limits, open.tools, {jobs, choice.isa, open.stop});
  setup.device.compiler = setup.compiler->identity();
  LocalOptions options;
  options.worker.program = open.tools.program;
  options.worker.stop = open.stop;
  options.temp_base = open.tools.scratch;
  options.worker.environment = worker_environment(backend, open.tools);
  options.limits = setup.device.limits;
  options.settings.device = choice.ordinal;
  options.settings.cold = setup.device.cold;
  options.settings.bundle = choice.bundle;
  if (!with_calls_for(to_text(workload), {"onnxruntime"}).empty())
    options.settings.onnxruntime = onnxruntime::find_libraries(open.tools);
  if (backend.on_host) options.settings.threads = setup.device.limits.cores;
  options.compile_jobs = jobs;
  if (choice.run_timeout_s) options.run_timeout_s = *choice.run_timeout_s;
  options.overlap = choice.overlap.value_or(!backend.on_host || options.settings.threads + jobs < cpus);
  // Sweeping a large cache takes longer than a window of the reference kernel.
  if (setup.device.cold && backend.on_host) options.use_reference = false;
  if (open.timings == Timings::kShort) {
    options.sampling = {
        .sample_us = 1, .min_samples = 1, .min_total_us = 1, .max_total_us = 1, .few_samples = 1};
    options.use_reference = false;
  }
  setup.measurer = std::make_unique<LocalMeasurer>(*setup.compiler, std::move(options));
  setup.stop = open.stop;
  setup.prober = prober_of(setup.device.limits);
  setup.bound = bound_of(setup.device.limits);
  return setup;
}

}  // namespace lehr
