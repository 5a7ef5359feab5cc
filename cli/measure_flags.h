// The flags of commands that measure: on what, and how long a candidate may take.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "cli/device_flags.h"

namespace lehr {

class MeasureFlags {
 public:
  /// May be called for several commands, of which one is chosen.
  void add(CLI::App& app);
  /// Throws Error(kUser), one sentence, for values that cannot be meant.
  DeviceChoice choice() const;

 private:
  std::string device_ = "auto", isa_ = "native", threads_, run_timeout_;
};

}  // namespace lehr
