// Reads the elements of constants, which may be in files of their own.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "network/onnx.h"
#include "network/shapes.h"

namespace lehr {

/// Returns the file of an external tensor, with symbolic links followed. The file must be below the model's
/// folder or, if the model is a link, below the folder of the link's target. Throws Error(kUser) with one
/// sentence if it is elsewhere, is not a file, or lacks elements of the tensor.
std::filesystem::path external_file(const OnnxModel& model, const OnnxTensor& tensor);

/// Real paths of external files, by the paths that the model states, relative to its folder.
using ExternalFiles = std::map<std::string, std::filesystem::path>;
/// Adds the file of a tensor. Throws as external_file() does.
void add_external(const OnnxModel& model, const OnnxTensor& tensor, ExternalFiles& files);
/// Returns all external files of a model. Throws as external_file() does.
ExternalFiles external_files(const OnnxModel& model);

/// Returns all elements of a constant of f32. Throws Error(kUser) if it has another type, its bytes do not
/// fit its shape, or its file cannot be read.
std::vector<float> f32_elements(const OnnxModel& model, const OnnxTensor& tensor);

/// Returns all elements of a constant of u8, s8, s32, s64 or bool. Throws as f32_elements() does.
std::vector<std::int64_t> whole_elements(const OnnxModel& model, const OnnxTensor& tensor);

/// Whether a node computes nothing: its only output is its first input, perhaps in another shape.
bool only_reshapes(const OnnxNode& node);

/// The constants of a model by the names of values.
class Constants {
 public:
  /// Keeps references to both.
  Constants(const OnnxModel& model, const GraphShapes& shapes);

  const OnnxModel& model() const { return model_; }
  const GraphShapes& shapes() const { return shapes_; }
  /// Returns the tensor of the file that has a value's elements; nullptr if the file has no such tensor. The
  /// tensor's shape differs from the value's if nodes reshape it.
  const OnnxTensor* find(std::string_view value) const;
  /// Returns the elements of a value that is a constant of f32 or a reshaped constant of f32. Throws
  /// Error(kUser) with one sentence for other values.
  std::vector<double> elements(std::string_view value) const;

 private:
  const OnnxModel& model_;
  const GraphShapes& shapes_;
  /// Values that nodes reshape, with the values that these nodes read.
  std::unordered_map<std::string_view, std::string_view> reshaped_;
};

}  // namespace lehr
