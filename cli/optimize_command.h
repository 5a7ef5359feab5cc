// `lehr optimize`: a network becomes a faster one in one command.
#pragma once

#include <string>

#include "cli/environment.h"
#include "cli/model_flags.h"

namespace lehr {

class OptimizeCommand {
 public:
  OptimizeCommand(CLI::App& root, const Environment& environment);
  /// The exit code.
  int run();

 private:
  const Environment& environment_;
  ModelFlags model_;
  std::string out_ = "faster", time_ = "5m", threads_, tolerance_, feed_, precision_ = "f32", seed_ = "0",
              database_, progress_;
  bool json_ = false, quiet_ = false;
};

}  // namespace lehr
