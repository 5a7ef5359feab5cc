// Flags for an ONNX file and the sizes of its inputs. Commands such as `model`, `tune --model` and `apply`
// take them.
#pragma once

#include <string>
#include <vector>

#include "api/lehr.h"

namespace CLI {
class App;
}

namespace lehr {

/// Flags of the commands that make a network faster.
class ModelFlags {
 public:
  /// Adds --dim and --input, and the file as an argument or flag with the name `file_name`: "FILE" or
  /// "--model".
  void add_to(CLI::App& app, const char* file_name);
  bool given() const { return !file_.empty(); }
  /// Whether sizes are given, even if no file is.
  bool has_sizes() const { return !dims_.empty() || !inputs_.empty(); }
  const std::string& file() const { return file_; }
  /// Returns the model. Throws Error(kUser) for sizes that are not valid.
  api::NetworkFile model() const;

 private:
  std::string file_;
  std::vector<std::string> dims_, inputs_;
};

}  // namespace lehr
