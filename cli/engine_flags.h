// --threads, --tolerance, --seed and --feed of commands that ask an inference engine.
#pragma once

#include <string>

#include "cli/environment.h"

namespace CLI {
class App;
}

namespace lehr {

inline constexpr const char* kFeedHelp =
    "real inputs in place of random ones: a .npz file with an array for each, or for some of them";
inline constexpr const char* kToleranceHelp =
    "largest difference from the original's outputs, as a share of their range (1e-4; with places in bf16 "
    "twice what rounding their inputs comes to)";

class EngineFlags {
 public:
  void add_to(CLI::App& app, const char* threads_help);
  /// What they say of applying; of the others each command tells. Throws Error(kUser).
  api::ApplyOptions options(const Environment& environment) const;

 private:
  std::string threads_, tolerance_, seed_ = "0", feed_;
};

}  // namespace lehr
