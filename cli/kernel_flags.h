// The flags that `show` and `compile` share. They choose a workload and a device, which need not be present.
#pragma once

#include <string>

#include "cli/environment.h"
#include "cli/option_flags.h"
#include "cli/problem_flags.h"
#include "record/device.h"
#include "replay/origin.h"
#include "space/space.h"

namespace CLI {
class App;
}

namespace lehr {

class KernelFlags {
 public:
  /// Adds the flags of ProblemFlags, and --config --arch --device --threads --isa to `app`.
  void add_to(CLI::App& app);
  /// Returns the workload. Throws Error(kUser) with one sentence if there is not exactly one.
  Workload workload() const { return problem_.workload(); }
  /// Returns the device with its limits, without a compiler. If `measure_rates` is true, a CPU's peak rates
  /// are measured. Throws as choose_device() does, and Error(kUser) for an invalid --arch.
  Device device(const Workload& workload, const Environment& environment, bool measure_rates = false) const;
  /// Returns the point of --config; nullopt if the flag was not given. Throws Error(kUser) if the config is
  /// not a point of `space`.
  std::optional<Point> point(const Space& space) const;
  /// Returns the value of --isa. Throws Error(kUser).
  Isa isa() const;
  bool has_config() const { return !config_.empty(); }
  /// Returns the choice that --device, --threads, --isa and --arch make among the devices of a log, which
  /// need not be present. Throws Error(kUser) for an invalid flag.
  LoggedDevices logged_devices() const;

 private:
  ProblemFlags problem_;
  std::string config_, arch_;
  OptionFlags device_;
};

}  // namespace lehr
