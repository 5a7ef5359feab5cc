// `lehr best`: the winners of a database, and how each was found.
#pragma once

#include <string>

#include "cli/environment.h"
#include "cli/filter_flags.h"

namespace CLI {
class App;
}

namespace lehr {

class BestCommand {
 public:
  BestCommand(CLI::App& root, const Environment& environment);
  /// The exit code.
  int run();

 private:
  FilterFlags filter_;
  std::string database_;
  bool json_ = false;
};

}  // namespace lehr
