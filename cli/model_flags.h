// An ONNX file and the sizes of its inputs, as `model`, `tune --model` and `apply` are given them.
#pragma once

#include <string>
#include <vector>

#include "network/places.h"

namespace CLI {
class App;
}

namespace lehr {

/// "batch=1" and "x=1x3x224x224" as flags have them. Throws Error(kUser).
ShapeBindings parse_bindings(const std::vector<std::string>& dims, const std::vector<std::string>& inputs);

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
  /// Reads the file, with every pool taken by the convolution before it (served_places()); what is newer than
  /// what is known is a note on stderr. Throws Error(kUser), one sentence.
  Network read() const;

 private:
  std::string file_;
  std::vector<std::string> dims_, inputs_;
};

}  // namespace lehr
