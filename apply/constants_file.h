// Constants in a file next to the model, each stored once.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "network/onnx.h"

namespace lehr {

class ConstantsFile {
 public:
  /// `path` is the path of the file as the model states it.
  explicit ConstantsFile(std::string_view path) : path_(path) {}

  /// Returns the TensorProto `message`. If the tensor is large and the model contains its elements, moves the
  /// elements to the file of constants, and returns a message that refers to this file. The bytes that
  /// `tensor` refers to must outlive this object.
  std::string moved(const OnnxTensor& tensor, std::string_view message);
  static bool is_large(const OnnxTensor& tensor);

  std::string take_bytes() { return std::move(bytes_); }

 private:
  std::uint64_t offset_of(std::string_view elements);

  std::string path_, bytes_;
  std::unordered_map<std::string_view, std::uint64_t> offsets_;
  std::deque<std::string> made_;  ///< elements that the model lists as numbers
};

}  // namespace lehr
