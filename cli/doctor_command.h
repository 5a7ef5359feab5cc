// `lehr doctor`: reports what this machine has, what is missing, and what to do about it.
#pragma once

#include <string>

#include "cli/environment.h"

namespace CLI {
class App;
}

namespace lehr {

class DoctorCommand {
 public:
  DoctorCommand(CLI::App& root, const Environment& environment);
  /// Returns the exit code, which is 0 even if something is missing.
  int run();

 private:
  const Environment& environment_;
  std::string database_;
  bool json_ = false;
  /// If this process was started by another `lehr doctor`, the only probe to run; else "".
  std::string probe_;
};

}  // namespace lehr
