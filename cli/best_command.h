// `lehr best`: prints the winners of a database, and how each was found.
#pragma once

#include <string>

#include "cli/environment.h"
#include "cli/option_flags.h"

namespace CLI {
class App;
}

namespace lehr {

class BestCommand {
 public:
  BestCommand(CLI::App& root, const Environment& environment);
  /// Returns the exit code.
  int run();

 private:
  const Environment& environment_;
  OptionFlags options_;
  std::string format_ = "table";
  bool wide_ = false, json_ = false;
};

}  // namespace lehr
