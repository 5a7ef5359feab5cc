// `lehr optimize`: makes a network faster in one command.
#pragma once

#include <string>

#include "cli/environment.h"
#include "cli/model_flags.h"
#include "cli/option_flags.h"

namespace lehr {

class OptimizeCommand {
 public:
  OptimizeCommand(CLI::App& root, const Environment& environment);
  /// Returns the exit code.
  int run();

 private:
  const Environment& environment_;
  ModelFlags model_;
  OptionFlags options_;
  std::string progress_;
  bool json_ = false, quiet_ = false;
};

}  // namespace lehr
