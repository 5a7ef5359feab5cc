// An ONNX file and the sizes of its inputs, as `model`, `tune --model` and `apply` are given them.
#pragma once

#include <string>
#include <vector>

#include "base/limits.h"
#include "network/tasks.h"

namespace CLI {
class App;
}

namespace lehr {

/// "batch=1" and "x=1x3x224x224" as flags have them. Throws Error(kUser).
ShapeBindings parse_bindings(const std::vector<std::string>& dims, const std::vector<std::string>& inputs);

/// What a file comes to.
struct ModelProblem {
  OnnxModel model;
  ModelShapes shapes;
  ModelWork work;  ///< with every pool taken: see take_served()
};

/// Leaves pools that no family on the device computes together with their convolution nodes of their own.
void take_served(ModelProblem& problem, const Limits& limits);

class ModelFlags {
 public:
  /// Adds --dim and --input, and the file under that name: "FILE" or "--model".
  void add_to(CLI::App& app, const char* file_name);
  bool given() const { return !file_.empty(); }
  /// Whether sizes are given, with a file or without.
  bool has_sizes() const { return !dims_.empty() || !inputs_.empty(); }
  const std::string& file() const { return file_; }
  /// The file and the sizes as flags for another command: "resnet18.onnx --dim batch=1".
  std::string as_flags() const;
  ShapeBindings bindings() const { return parse_bindings(dims_, inputs_); }
  /// Reads the file; what is newer than what is known is a note on stderr. Throws Error(kUser), one sentence.
  ModelProblem read() const;

 private:
  std::string file_;
  std::vector<std::string> dims_, inputs_;
};

}  // namespace lehr
