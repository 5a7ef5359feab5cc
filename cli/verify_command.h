// `lehr verify`: checks whether a network that `lehr apply` has written computes the same as the original.
#pragma once

#include "cli/environment.h"
#include "cli/model_flags.h"
#include "cli/option_flags.h"

namespace CLI {
class App;
}

namespace lehr {

class VerifyCommand {
 public:
  VerifyCommand(CLI::App& root, const Environment& environment);
  /// Returns the exit code.
  int run();

 private:
  const Environment& environment_;
  ModelFlags problem_;
  OptionFlags options_;
  bool json_ = false;
};

}  // namespace lehr
