// `lehr export`: writes winners as a folder that a product uses.
#pragma once

#include "cli/environment.h"
#include "cli/option_flags.h"

namespace CLI {
class App;
}

namespace lehr {

class ExportCommand {
 public:
  ExportCommand(CLI::App& root, const Environment& environment);
  /// Returns the exit code.
  int run();

 private:
  const Environment& environment_;
  OptionFlags options_;
  bool json_ = false;
};

}  // namespace lehr
