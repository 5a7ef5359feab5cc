// Wiring of device, compiler and measurer.
#include "cli/rig.h"

#include <fmt/format.h>
#include <algorithm>
#include <optional>

#include "base/error.h"
#include "cli/args.h"
#include "measure/cuda/cuda_folders.h"
#include "measure/cuda/nvrtc.h"
#include "measure/host/host_compiler.h"
#include "measure/system/affinity.h"
#include "measure/worker/baselines.h"
#include "measure/worker/compile_pool.h"
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
  if (const auto missing = why_no_nvrtc(cuda_folders(environment))) return missing;
  try {
    space_for(workload, device.limits);
  } catch (const Error& error) {
    return error.what();
  }
  return std::nullopt;
}

/// What worker processes get on top of our environment: vendor libraries, and what those load in their turn,
/// are found where NVRTC is.
std::vector<std::string> worker_environment(const Environment& environment) {
  std::vector<std::string> folders = cuda_folders(environment);
  if (folders.empty()) return {};
  if (!environment.library_path.empty()) folders.insert(folders.begin(), environment.library_path);
  return {fmt::format("LD_LIBRARY_PATH={}", fmt::join(folders, ":"))};
}

}  // namespace

std::vector<std::string> cuda_folders(const Environment& environment) {
  return cuda_library_folders(environment.path, environment.cuda_home);
}

DeviceChoice parse_device(const std::string& device, const std::string& threads) {
  DeviceChoice choice;
  const auto cpus = static_cast<std::int64_t>(allowed_cpus().size());
  if (!threads.empty()) choice.threads = static_cast<int>(parse_number("--threads", threads, 1, cpus));
  if (device == "auto") return choice;
  choice.automatic = false;
  if (device == "cpu") return choice;
  choice.target = Target::kCuda;
  if (device == "cuda") return choice;
  if (!device.starts_with("cuda:")) parse_choice("--device", device, {"auto", "cpu", "cuda", "cuda:0"});
  choice.ordinal = static_cast<int>(parse_number("--device cuda:", device.substr(5), 0, kMostDevices - 1));
  return choice;
}

std::vector<std::string> chosen_baselines(Target target, const std::string& flag) {
  std::vector<std::string> known = flag.empty() ? default_baselines(target) : baseline_names(target);
  if (target.has(Feature::kTasks)) known.emplace_back(kUnfused);
  return flag.empty() ? known : parse_choices("--baseline", flag, known);
}

std::string baseline_help() {
  std::string text = "vendor libraries to compare with, and where kernels are functions, unfused (the epilogue as a pass "
                     "of its own)", left_out;
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
  if (choice.target == Target::kCuda || choice.automatic) {
    std::string reason;
    const std::optional<Device> device = cuda_device(choice.ordinal, reason);
    if (device) {
      const std::optional<std::string> unfit =
          choice.automatic ? why_not(*device, workload, environment) : std::nullopt;
      if (!unfit) return *device;
      note = fmt::format("{} is there but not used: {}", device->name, *unfit);
    } else if (!choice.automatic) {
      const std::optional<std::string> no_compiler = why_no_nvrtc(cuda_folders(environment));
      throw_environment(
          "--device cuda:{} cannot be used: {}{}; --device cpu tunes on the CPU instead, and lehr compile "
          "--arch sm_90a compiles CUDA kernels without a GPU",
          choice.ordinal, reason, no_compiler ? "; " + *no_compiler : "");
    }
  }
  return cpu_device(choice.threads, measure_rates);
}

int parse_jobs(const std::string& text) {
  if (text.empty()) return static_cast<int>(allowed_cpus().size());
  return static_cast<int>(parse_number("--jobs", text, 1, kMostJobs));
}

std::unique_ptr<Compiler> make_compiler(const Limits& limits, const Environment& environment, int jobs) {
  if (limits.target == Target::kCuda) {
    CompilePoolOptions options;
    options.worker.executable = own_executable();
    options.nvrtc.arch = limits.arch;
    options.nvrtc.library_directories = cuda_folders(environment);
    options.workers = jobs;
    return std::make_unique<CompilePool>(std::move(options));
  }
  HostCompilerOptions options;
  options.jobs = jobs;
  options.compiler = environment.compiler;
  if (!environment.path.empty()) options.search_path = environment.path;
  return std::make_unique<HostCompiler>(std::move(options));
}

Rig make_rig(const DeviceChoice& choice, const Workload& workload, const Environment& environment, int jobs,
             Timings timings) {
  Rig rig;
  rig.device = choose_device(choice, workload, environment, timings == Timings::kFull, rig.note);
  const bool cuda = rig.device.limits.target == Target::kCuda;
  const auto cpus = static_cast<int>(allowed_cpus().size());
  if (jobs == 0) jobs = cuda ? std::max(1, cpus - 1) : cpus;
  rig.compiler = make_compiler(rig.device.limits, environment, jobs);
  rig.device.compiler = rig.compiler->identity();
  rig.device.cold = choice.cold;
  LocalOptions options;
  options.worker.executable = own_executable();
  options.worker.environment = worker_environment(environment);
  options.limits = rig.device.limits;
  options.settings.device = choice.ordinal;
  options.settings.cold = choice.cold;
  if (rig.device.limits.target == Target::kCpu) options.settings.threads = rig.device.limits.cores;
  options.chunk = std::max(8, jobs);
  options.compile_jobs = jobs;
  options.overlap = choice.overlap.value_or(cuda || options.settings.threads + jobs < cpus);
  // A sweep of a large cache takes longer than a window of the reference kernel.
  if (choice.cold && !cuda) options.use_reference = false;
  if (timings == Timings::kShort) {
    options.sampling = {
        .sample_us = 1, .min_samples = 1, .min_total_us = 1, .max_total_us = 1, .few_samples = 1};
    options.use_reference = false;
  }
  rig.measurer = std::make_unique<LocalMeasurer>(*rig.compiler, std::move(options));
  return rig;
}

}  // namespace lehr
