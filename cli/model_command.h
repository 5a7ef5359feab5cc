// `lehr model FILE.onnx`: what of a network is tuned, and what is not.
#pragma once

#include <string>
#include <vector>

#include "cli/environment.h"
#include "model/shapes.h"

namespace CLI {
class App;
}

namespace lehr {

/// "batch=1" and "x=1x3x224x224" as flags have them. Throws Error(kUser).
ShapeBindings parse_bindings(const std::vector<std::string>& dims, const std::vector<std::string>& inputs);

class ModelCommand {
 public:
  ModelCommand(CLI::App& root, const Environment& environment);
  bool chosen() const;
  /// The exit code.
  int run();

 private:
  CLI::App* app_ = nullptr;
  const Environment& environment_;
  std::string file_;
  std::vector<std::string> dims_, inputs_;
  std::string device_ = "auto", threads_, isa_ = "native";
  bool json_ = false;
};

}  // namespace lehr
