// Wiring of device, compiler and measurer.
#include "cli/measure_setup.h"

#include <fmt/format.h>
#include <algorithm>
#include <optional>
#include <ranges>

#include "base/error.h"
#include "cli/args.h"
#include "cli/isa_flag.h"
#include "measure/system/affinity.h"
#include "measure/worker/backends.h"
#include "measure/worker/baselines.h"
#include "measure/worker/local_measurer.h"
#include "templates/catalog.h"
#include "tune/session.h"

namespace lehr {
namespace {

constexpr int kMostDevices = 64;
constexpr int kMostJobs = 1024;

/// nullopt if `workload` can be tuned on `device`, else a sentence.
std::optional<std::string> why_not(const Device& device, const Workload& workload,
                                   const Environment& environment) {
  const Backend& backend = backend_of(device.limits.target);
  if (backend.why_no_compiler != nullptr)
    if (const auto missing = backend.why_no_compiler(environment)) return missing;
  try {
    space_for(workload, device.limits);
  } catch (const Error& error) {
    return error.what();
  }
  return std::nullopt;
}

/// What worker processes get on top of our environment: vendor libraries, and what those load in their turn,
/// are found where the target's other libraries are.
std::vector<std::string> worker_environment(const Backend& backend, const Environment& environment) {
  std::vector<std::string> folders = backend.library_folders(environment);
  if (folders.empty()) return {};
  if (!environment.library_path.empty()) folders.insert(folders.begin(), environment.library_path);
  return {fmt::format("LD_LIBRARY_PATH={}", fmt::join(folders, ":"))};
}

/// Throws the reason why a device that was asked for by name cannot be used.
[[noreturn]] void refuse(const Backend& backend, int ordinal, const std::string& reason,
                         const Environment& environment) {
  const auto no_compiler =
      backend.why_no_compiler != nullptr ? backend.why_no_compiler(environment) : std::nullopt;
  throw_environment("--device {}{} cannot be used: {}{}; {}", name_of(backend.target),
                    backend.numbered ? fmt::format(":{}", ordinal) : "", reason,
                    no_compiler ? "; " + *no_compiler : "", backend.instead);
}

DeviceChoice parse_kind(const std::string& device, const std::string& threads) {
  DeviceChoice choice;
  const auto cpus = static_cast<std::int64_t>(allowed_cpus().size());
  if (!threads.empty()) choice.threads = static_cast<int>(parse_number("--threads", threads, 1, cpus));
  if (device == "auto") return choice;
  choice.automatic = false;
  std::vector<std::string> known = {"auto"};
  for (const Backend* backend : backends()) {
    choice.target = backend->target;
    const std::string name(name_of(backend->target)), numbered = name + ":";
    if (device == name) return choice;
    known.push_back(name);
    if (!backend->numbered) continue;
    if (device.starts_with(numbered)) {
      choice.ordinal = static_cast<int>(
          parse_number("--device " + numbered, device.substr(numbered.size()), 0, kMostDevices - 1));
      return choice;
    }
    known.push_back(numbered + "0");
  }
  parse_choice("--device", device, known);
  return choice;
}

bool has_level(Target target, const IsaLevel* level) {
  return std::ranges::any_of(archs_of(target).levels, [&](const IsaLevel& one) { return &one == level; });
}

}  // namespace

DeviceChoice parse_device(const std::string& device, const std::string& threads, const std::string& isa) {
  DeviceChoice choice = parse_kind(device, threads);
  choice.isa = parse_isa(isa);
  if (choice.isa == nullptr) return choice;
  const Target target =
      *std::ranges::find_if(kTargets, [&](Target one) { return has_level(one, choice.isa); });
  if (!choice.automatic && choice.target != target)
    throw_user("--isa {} is for a {}; leave out --device {}", isa, target->title, name_of(choice.target));
  choice.automatic = false;
  choice.target = target;
  return choice;
}

std::vector<std::string> chosen_baselines(Target target, const std::string& flag) {
  std::vector<std::string> known = flag.empty() ? default_baselines(target) : baseline_names(target);
  if (target.has(Feature::kTasks)) known.emplace_back(kUnfused);
  return flag.empty() ? known : parse_choices("--baseline", flag, known);
}

std::string baseline_help() {
  std::string text =
      "vendor libraries to compare with, and where kernels are functions, unfused (the epilogue as a pass of "
      "its own)";
  std::string left_out;
  for (const Target target : kTargets) {
    const std::vector<std::string> usual = default_baselines(target);
    text += fmt::format("; {}: {}", target->title, fmt::join(baseline_names(target), ", "));
    for (const std::string& name : baseline_names(target))
      if (std::ranges::find(usual, name) == usual.end()) left_out += (left_out.empty() ? "" : ", ") + name;
  }
  return fmt::format("{} (all{}{})", text, left_out.empty() ? "" : " but ", left_out);
}

Device choose_device(const DeviceChoice& choice, const Workload& workload, const Environment& environment,
                     bool measure_rates, std::string& note) {
  const DeviceRequest request = {choice.ordinal, choice.threads, choice.isa, measure_rates};
  if (choice.isa != nullptr) check_runs_here(*choice.isa, environment);
  for (const Backend* backend : std::views::reverse(backends())) {
    if (!choice.automatic && backend->target != choice.target) continue;
    std::string reason;
    std::optional<Device> device = backend->find(request, reason);
    if (!device && !choice.automatic) refuse(*backend, choice.ordinal, reason, environment);
    if (!device) continue;
    const bool last = backend == backends().front();
    const std::optional<std::string> unfit =
        choice.automatic && !last ? why_not(*device, workload, environment) : std::nullopt;
    if (!unfit) return *std::move(device);
    note = fmt::format("{} is there but not used: {}", device->name, *unfit);
  }
  throw_environment("this machine has no device to run kernels on");
}

std::optional<DeviceChoice> device_at_hand(const std::string& identity, const std::string& target,
                                           const Environment& environment) {
  const std::optional<Target> known = target_named(target);
  if (!known) return std::nullopt;
  const Backend& backend = backend_of(*known);
  const int most = backend.on_host ? static_cast<int>(allowed_cpus().size()) : kMostDevices;
  for (int i = 0; i < most; ++i) {
    DeviceChoice choice;
    choice.automatic = false;
    choice.target = *known;
    choice.isa = isa_level_said(identity);
    (backend.on_host ? choice.threads : choice.ordinal) = backend.on_host ? i + 1 : i;
    std::string reason;
    std::optional<Device> device = backend.find({choice.ordinal, choice.threads, choice.isa, false}, reason);
    if (!device) return std::nullopt;
    if (!identity.starts_with(identity_of(*device)))
      continue;  // all but the compiler, which takes time to ask
    device->compiler = make_compiler(device->limits, environment, 1, choice.isa)->identity();
    for (const bool cold : {false, true}) {
      choice.cold = device->cold = cold;
      if (identity_of(*device) == identity) return choice;
    }
  }
  return std::nullopt;
}

int parse_jobs(const std::string& text) {
  if (text.empty()) return static_cast<int>(allowed_cpus().size());
  return static_cast<int>(parse_number("--jobs", text, 1, kMostJobs));
}

std::unique_ptr<Compiler> make_compiler(const Limits& limits, const Environment& environment, int jobs,
                                        const IsaLevel* isa) {
  return make_compiler(limits, environment, own_executable(), jobs, isa);
}

MeasureSetup make_measure_setup(const DeviceChoice& choice, const Workload& workload,
                                const Environment& environment, int jobs, Timings timings) {
  MeasureSetup setup;
  setup.device = choose_device(choice, workload, environment, timings == Timings::kFull, setup.note);
  const Backend& backend = backend_of(setup.device.limits.target);
  const auto cpus = static_cast<int>(allowed_cpus().size());
  if (jobs == 0) jobs = backend.on_host ? cpus : std::max(1, cpus - 1);
  setup.compiler = make_compiler(setup.device.limits, environment, jobs, choice.isa);
  setup.device.compiler = setup.compiler->identity();
  const bool cold = choice.cold || (choice.cold_on_host && backend.on_host);
  setup.device.cold = cold;
  LocalOptions options;
  options.worker.executable = own_executable();
  options.worker.environment = worker_environment(backend, environment);
  options.limits = setup.device.limits;
  options.settings.device = choice.ordinal;
  options.settings.cold = cold;
  options.settings.bundle = choice.bundle;
  if (backend.on_host) options.settings.threads = setup.device.limits.cores;
  options.chunk = std::max(8, jobs);
  options.compile_jobs = jobs;
  if (choice.run_timeout_s) options.run_timeout_s = *choice.run_timeout_s;
  options.overlap = choice.overlap.value_or(!backend.on_host || options.settings.threads + jobs < cpus);
  // A sweep of a large cache takes longer than a window of the reference kernel.
  if (cold && backend.on_host) options.use_reference = false;
  if (timings == Timings::kShort) {
    options.sampling = {
        .sample_us = 1, .min_samples = 1, .min_total_us = 1, .max_total_us = 1, .few_samples = 1};
    options.use_reference = false;
  }
  setup.measurer = std::make_unique<LocalMeasurer>(*setup.compiler, std::move(options));
  return setup;
}

}  // namespace lehr
