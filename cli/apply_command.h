// `lehr apply`: turns a network and a bundle into a network that an inference engine runs with the bundle's
// kernels.
#pragma once

#include "cli/environment.h"
#include "cli/model_flags.h"
#include "cli/option_flags.h"

namespace CLI {
class App;
}

namespace lehr {

class ApplyCommand {
 public:
  ApplyCommand(CLI::App& root, const Environment& environment);
  /// Returns the exit code.
  int run();

 private:
  const Environment& environment_;
  ModelFlags problem_;
  OptionFlags options_;
  bool json_ = false;
};

}  // namespace lehr
