// Which workload, for which machine: the flags that `show` and `compile` share. The machine need not be
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
  /// Adds what ProblemFlags adds, and --config --arch --device --threads --isa to `app`.
  void add_to(CLI::App& app);
  /// Throws Error(kUser), one sentence, when none or two are given.
  Workload workload() const { return problem_.workload(); }
  /// The device with its limits, without a compiler; a CPU's peak rates are measured when `measure_rates`.
  /// Throws as choose_device; Error(kUser) for a bad --arch.
  Device device(const Workload& workload, const Environment& environment, bool measure_rates = false) const;
  /// The config of --config; nullopt when it was not given. Throws Error(kUser) when it is no point of
  /// `space`.
  std::optional<Point> point(const Space& space) const;
  /// That of --isa. Throws Error(kUser).
  Isa isa() const;
  bool has_config() const { return !config_.empty(); }
  /// --device, --threads, --isa and --arch as a choice among the devices of a log, none of which need be
  /// here. Throws Error(kUser) for a bad one.
  LoggedDevices logged_devices() const;

 private:
  ProblemFlags problem_;
  std::string config_, arch_;
  OptionFlags device_;
};

}  // namespace lehr
