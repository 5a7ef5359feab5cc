// The flags that `show` and `compile` share: which workload, for which machine. The machine need not be
// present.
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
  /// Returns the workload. Throws Error(kUser) with one sentence if none or two are given.
  Workload workload() const { return problem_.workload(); }
  /// Returns the device with its limits, without a compiler. A CPU's peak rates are measured if
  /// `measure_rates`. Throws as choose_device(); Error(kUser) for an invalid --arch.
  Device device(const Workload& workload, const Environment& environment, bool measure_rates = false) const;
  /// Returns the config of --config; nullopt if it was not given. Throws Error(kUser) if it is not a point of
  /// `space`.
  std::optional<Point> point(const Space& space) const;
  /// Returns the value of --isa. Throws Error(kUser).
  Isa isa() const;
  bool has_config() const { return !config_.empty(); }
  /// Returns --device, --threads, --isa and --arch as a choice among the devices of a log, which need not be
  /// present. Throws Error(kUser) for an invalid one.
  LoggedDevices logged_devices() const;

 private:
  ProblemFlags problem_;
  std::string config_, arch_;
  OptionFlags device_;
};

}  // namespace lehr
