// Turns flags into a workload, a device and a config.
#include "cli/kernel_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "api/device_names.h"
#include "base/args.h"
#include "base/error.h"
#include "cli/device_flags.h"
#include "cli/help.h"
#include "target/archs.h"

namespace lehr {
namespace {

/// Returns the first target that has this arch.
Target target_of_arch(const std::string& arch) {
  std::vector<std::string> known;
  for (const Target target : kTargets) {
    const std::vector<std::string> archs = archs_of(target).known();
    if (std::ranges::find(archs, arch) != archs.end()) return target;
    known.insert(known.end(), archs.begin(), archs.end());
  }
  parse_choice("--arch", arch, known);  // this always throws
  return {};
}

}  // namespace

void KernelFlags::add_to(CLI::App& app) {
  problem_.add_to(app, "The workload as problem flags: a {}");
  for (CLI::App* each : problem_.operators()) each->fallthrough();
  value_flag(app, kSearchGroup, "--config", config_, "the config as text");
  value_flag(app, kMeasuringGroup, "--arch", arch_,
             "a CUDA architecture, which need not be present: sm_80, sm_90a, ...");
  add_device_flags(device_, app, {"device", "threads", "isa"});
}

Device KernelFlags::device(const Workload& workload, const Environment& environment,
                           bool measure_rates) const {
  const auto options = device_.read<api::DeviceOptions>();
  if (!arch_.empty() && isa().level != nullptr)
    throw_user("--arch {} and --isa {} exclude each other", arch_, options.isa);
  const DeviceChoice choice = choice_of(options);
  if (arch_.empty()) {
    std::string note;
    return choose_device(choice, workload, environment, measure_rates, note);
  }
  const Target target = target_of_arch(arch_);
  if (!choice.automatic && choice.target != target)
    throw_user("--arch {} is for {}; leave out --device {}", arch_, target->title, name_of(choice.target));
  Device device;
  device.limits = archs_of(target).limits(arch_, 0);
  device.name = "any " + arch_;
  return device;
}

Isa KernelFlags::isa() const {
  return parse_isa(device_.read<api::DeviceOptions>().isa);
}

std::optional<Point> KernelFlags::point(const Space& space) const {
  if (config_.empty()) return std::nullopt;
  Config config;
  try {
    config = parse_config(config_);
  } catch (const Error& error) {
    throw_user("--config: {}", error.what());
  }
  if (const auto reason = space.why_invalid(config))
    throw_user("--config {} is not valid: {}", config_, *reason);
  return space.point_of(config);
}

LoggedDevices KernelFlags::logged_devices() const {
  auto options = device_.read<api::DeviceOptions>();
  // The log's machine may have more CPUs than this one.
  const int threads = std::exchange(options.threads, 0);
  const DeviceChoice choice = choice_of(options);
  LoggedDevices devices{.target = "", .arch = arch_, .isa = choice.isa};
  if (device_.is_given("--threads")) devices.threads = threads;
  if (!choice.automatic) devices.target = name_of(choice.target);
  return devices;
}

}  // namespace lehr
