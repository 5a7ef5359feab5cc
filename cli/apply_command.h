// `lehr apply`: a network and a bundle become a network that an inference engine runs with the bundle's
// kernels.
#pragma once

#include <string>

#include "cli/engine_flags.h"
#include "cli/environment.h"
#include "cli/model_flags.h"

namespace CLI {
class App;
}

namespace lehr {

class ApplyCommand {
 public:
  ApplyCommand(CLI::App& root, const Environment& environment);
  /// The exit code.
  int run();

 private:
  const Environment& environment_;
  ModelFlags problem_;
  EngineFlags engine_;
  std::string bundle_, out_, time_ = "60s", precision_ = "f32";
  bool json_ = false, no_engine_ = false, no_winograd_ = false;
};

}  // namespace lehr
