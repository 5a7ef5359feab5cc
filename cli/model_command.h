// `lehr model FILE.onnx`: lists the parts of a network that can be tuned, and the parts that cannot.
#pragma once

#include "cli/environment.h"
#include "cli/model_flags.h"
#include "cli/option_flags.h"

namespace CLI {
class App;
}

namespace lehr {

class ModelCommand {
 public:
  ModelCommand(CLI::App& root, const Environment& environment);
  /// Returns the exit code.
  int run();

 private:
  const Environment& environment_;
  ModelFlags problem_;
  OptionFlags device_;
  bool json_ = false;
};

}  // namespace lehr
