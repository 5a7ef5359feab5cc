// Constants that lie in a file beside the model, each once.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "network/onnx.h"

namespace lehr {

class ConstantsFile {
 public:
  /// `path`: of the file, as models name it.
  explicit ConstantsFile(std::string_view path) : path_(path) {}

  /// A TensorProto with its elements in the file: those of a large one that the model has itself; any other
  /// as it is. What `tensor` refers to has to stay until the end.
  std::string moved(const OnnxTensor& tensor, std::string_view message);
  static bool is_large(const OnnxTensor& tensor);

  std::string take_bytes() { return std::move(bytes_); }

 private:
  std::uint64_t offset_of(std::string_view elements);

  std::string path_, bytes_;
  std::unordered_map<std::string_view, std::uint64_t> offsets_;
  std::deque<std::string> made_;  ///< elements that are listed as numbers
};

}  // namespace lehr
