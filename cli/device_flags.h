// The flags of commands that measure.
#pragma once

#include <string>

#include "api/device_names.h"
#include "cli/environment.h"

namespace CLI {
class App;
}

namespace lehr {

/// The flags of commands that measure: on what, and how long a candidate may take.
class MeasureFlags {
 public:
  /// May be called for several commands, of which one is chosen.
  void add(CLI::App& app);
  /// Throws Error(kUser), one sentence, for values that cannot be meant.
  DeviceChoice choice() const;
  /// The same for api/.
  api::DeviceOptions options(const Environment& environment) const;

 private:
  std::string device_ = "auto", isa_ = "native", threads_, run_timeout_;
};

}  // namespace lehr
