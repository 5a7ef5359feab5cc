// Which shape every value of a graph has: those that the file states, and those that follow from its nodes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "network/onnx.h"

namespace lehr {

using Dim = std::optional<std::int64_t>;  ///< nullopt: any

/// What is known of a value before the graph runs.
struct ValueFacts {
  OnnxType type = OnnxType::kUnknown;
  std::optional<std::vector<Dim>> shape;  ///< nullopt: not even how many dimensions
  /// Elements of a short tensor of whole numbers (sizes, axes) in row-major order; each may be any.
  std::optional<std::vector<Dim>> wholes;
  const OnnxTensor* constant = nullptr;  ///< where the file has it
  bool fixed = false;                    ///< it depends on no input: a constant, or made of constants alone
};
/// The shape where every dimension is known.
std::optional<std::vector<std::int64_t>> whole_shape(const ValueFacts& facts);

/// What the user says of a model's inputs.
struct ShapeBindings {
  std::map<std::string, std::int64_t> dims;                 ///< of names of dimensions
  std::map<std::string, std::vector<std::int64_t>> inputs;  ///< of whole inputs
};

struct GraphShapes {
  std::unordered_map<std::string_view, ValueFacts> values;  ///< by name
  /// A clause for each input that is not known whole, and for each node where what was known comes to an end.
  std::vector<std::string> unknown;
  /// Flags that would say all sizes of inputs that are not known, each once: "--dim batch=1", "--dim
  /// length=?",
  /// "--input x=1x3x?x?" (unquoted). A number of things computed at once is 1, what the user has to fill in
  /// "?".
  std::vector<std::string> missing_sizes;

  /// Of no name nothing is known.
  const ValueFacts& of(std::string_view name) const;
};

/// Throws Error(kUser) for a binding that names no dimension or input of the model, or contradicts it.
GraphShapes infer_shapes(const OnnxModel& model, const ShapeBindings& bindings);

/// How a convolution or pool goes over an image; of each, first height, then width.
struct ImageWindow {
  std::int64_t kernel[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1};
  std::int64_t before[2] = {0, 0}, after[2] = {0, 0};  ///< padding
  bool ceil = false;                                   ///< a pool rounds its output up
};
/// Of a Conv or a pool over two spatial dimensions of these sizes, or over one, which is the width of images
/// of height 1; nullopt for more, and for attributes that do not go together. `kernel`: of the filter where
/// the node need not tell it.
std::optional<ImageWindow> window_of(const OnnxNode& node, const std::vector<Dim>& sizes,
                                     const std::vector<Dim>& kernel);

}  // namespace lehr
