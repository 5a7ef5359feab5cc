// Infers the shape of every value of a graph from the shapes that the file states and from the graph's nodes.
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

using Dim = std::optional<std::int64_t>;  ///< nullopt: the size is not known

/// The facts about a value that are known before the graph runs.
struct ValueFacts {
  OnnxType type = OnnxType::kUnknown;
  std::optional<std::vector<Dim>> shape;  ///< nullopt: not even the rank is known
  /// Elements of a short tensor of integers (sizes, axes) in row-major order. An element is nullopt if it is
  /// not known.
  std::optional<std::vector<Dim>> wholes;
  const OnnxTensor* constant = nullptr;  ///< the tensor, if the value is a constant of the file
  /// Whether the value depends on no input: it is a constant, or made only from constants.
  bool fixed = false;
};
/// Returns the shape if every dimension is known; else nullopt.
std::optional<std::vector<std::int64_t>> whole_shape(const ValueFacts& facts);

/// The user's statements about a model's inputs.
struct ShapeBindings {
  std::map<std::string, std::int64_t> dims;                 ///< sizes, by the names of dimensions
  std::map<std::string, std::vector<std::int64_t>> inputs;  ///< shapes, by the names of inputs
};

struct GraphShapes {
  std::unordered_map<std::string_view, ValueFacts> values;  ///< facts about values, by name
  /// A clause for each input whose shape is not fully known, and for each node that has known inputs but
  /// unknown outputs.
  std::vector<std::string> unknown;
  /// Flags, without repetition, with which the user can give all unknown sizes of inputs: "--dim batch=1",
  /// "--dim length=?", "--input x=1x3x?x?". They are not quoted for a shell. A batch is proposed as 1, and
  /// the user fills in each "?".
  std::vector<std::string> missing_sizes;

  /// Returns the facts about a value. The facts are empty if the name is "" or not known.
  const ValueFacts& of(std::string_view name) const;
};

/// Infers all shapes. Throws Error(kUser) if a binding names no dimension or input of the model, or
/// contradicts the model.
GraphShapes infer_shapes(const OnnxModel& model, const ShapeBindings& bindings);

/// How a convolution or pool moves over an image. Each array has height first, then width.
struct ImageWindow {
  std::int64_t kernel[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1};
  std::int64_t before[2] = {0, 0}, after[2] = {0, 0};  ///< padding
  bool ceil = false;                                   ///< whether a pool rounds the size of its output up
};
/// Returns the window of a Conv or a pool. `sizes` are the sizes of its two spatial dimensions, or of only
/// one, which becomes the width of images of height 1. `kernel` has the filter's sizes, which the node need
/// not state. Returns nullopt for more dimensions, and for attributes that do not fit together.
std::optional<ImageWindow> window_of(const OnnxNode& node, const std::vector<Dim>& sizes,
                                     const std::vector<Dim>& kernel);

}  // namespace lehr
