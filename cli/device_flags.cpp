// Texts as they were given, and what is opened with them.
#include "cli/device_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "cli/args.h"
#include "cli/isa_flag.h"
#include "measure/system/affinity.h"
#include "measure/worker/backends.h"
#include "measure/worker/baselines.h"
#include "tune/session.h"

namespace lehr {
namespace {

constexpr int kMostJobs = 1024;

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
  if (flag.empty()) return usual_baselines(target);
  std::vector<std::string> known = baseline_names(target);
  if (target.has(Feature::kHostFunction)) known.emplace_back(kUnfused);
  return parse_choices("--baseline", flag, known);
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

int parse_jobs(const std::string& text) {
  if (text.empty()) return static_cast<int>(allowed_cpus().size());
  return static_cast<int>(parse_number("--jobs", text, 1, kMostJobs));
}

Device device_here(const DeviceChoice& choice, const Workload& workload, const Environment& environment,
                   bool measure_rates, std::string& note) {
  if (choice.isa != nullptr) check_runs_here(*choice.isa, environment);
  return choose_device(choice, workload, environment, measure_rates, note);
}

OpenDevice open_here(const DeviceChoice& choice, const Workload& workload, const Environment& environment,
                     int jobs, Timings timings) {
  if (choice.isa != nullptr) check_runs_here(*choice.isa, environment);
  return open_device(choice, workload, {environment, own_executable(), jobs, timings});
}

}  // namespace lehr
