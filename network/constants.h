// Elements of constants, those in files of their own among them.
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

/// The file of an external tensor, symbolic links followed. Throws Error(kUser), one sentence, unless it lies
/// below the model's folder or, where the model is a link, below the folder of what that leads to, is a file,
/// and has all of the tensor's elements.
std::filesystem::path external_file(const OnnxModel& model, const OnnxTensor& tensor);

/// Files by their places below a model's folder: where they really lie.
using ExternalFiles = std::map<std::string, std::filesystem::path>;
/// Adds a tensor's. Throws as external_file().
void add_external(const OnnxModel& model, const OnnxTensor& tensor, ExternalFiles& files);
/// All that a model has. Throws as external_file().
ExternalFiles external_files(const OnnxModel& model);

/// All elements of a constant of f32. Throws Error(kUser) where it is of another type, its bytes are not as
/// many as its shape says, or its file cannot be read.
std::vector<float> f32_elements(const OnnxModel& model, const OnnxTensor& tensor);

/// All elements of a constant of 8 bits, s32, s64 or bool; the same.
std::vector<std::int64_t> whole_elements(const OnnxModel& model, const OnnxTensor& tensor);

/// Whether a node computes nothing: its one output is its first input, perhaps in another shape.
bool only_reshapes(const OnnxNode& node);

/// The constants of a model by the names of values.
class Constants {
 public:
  /// Borrows both.
  Constants(const OnnxModel& model, const GraphShapes& shapes);

  const OnnxModel& model() const { return model_; }
  const GraphShapes& shapes() const { return shapes_; }
  /// The tensor with a value's elements, in another shape where nodes have given it one; nullptr: the file
  /// has none.
  const OnnxTensor* find(std::string_view value) const;
  /// The elements of a value that is a constant of f32, or one that nodes have given another shape. Throws
  /// Error(kUser), one sentence, for others.
  std::vector<double> elements(std::string_view value) const;

 private:
  const OnnxModel& model_;
  const GraphShapes& shapes_;
  /// Of values that are others in another shape: those.
  std::unordered_map<std::string_view, std::string_view> reshaped_;
};

}  // namespace lehr
