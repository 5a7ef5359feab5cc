// `lehr doctor`: what this machine has, what is missing, and what to do about it.
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
  /// Returns the exit code: 0, also if something is missing.
  int run();

 private:
  const Environment& environment_;
  std::string database_;
  bool json_ = false;
  std::string probe_;  ///< the only thing to look for, in a process that another `lehr doctor` started
};

}  // namespace lehr
