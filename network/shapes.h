// Infers the shape of every value of a graph: shapes that the file states, and those that follow from its
// nodes.
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

using Dim = std::optional<std::int64_t>;  ///< nullopt: any size

/// The known facts about a value before the graph runs.
struct ValueFacts {
  OnnxType type = OnnxType::kUnknown;
  std::optional<std::vector<Dim>> shape;  ///< nullopt: not even its rank is known
  /// Elements of a short tensor of integers (sizes, axes) in row-major order; a nullopt element may be any.
  std::optional<std::vector<Dim>> wholes;
  const OnnxTensor* constant = nullptr;  ///< the tensor, if the file has it
  bool fixed = false;  ///< whether it depends on no input: a constant, or made only from constants
};
/// Returns the shape if every dimension is known.
std::optional<std::vector<std::int64_t>> whole_shape(const ValueFacts& facts);

/// The user's statements about a model's inputs.
struct ShapeBindings {
  std::map<std::string, std::int64_t> dims;                 ///< sizes by the names of dimensions
  std::map<std::string, std::vector<std::int64_t>> inputs;  ///< shapes by the names of inputs
};

struct GraphShapes {
  std::unordered_map<std::string_view, ValueFacts> values;  ///< by name
  /// A clause for each input that is not fully known, and for each node that has known inputs but unknown
  /// outputs.
  std::vector<std::string> unknown;
  /// Flags that would give the sizes of all unknown inputs, each once: "--dim batch=1", "--dim length=?",
  /// "--input x=1x3x?x?" (unquoted). A batch is 1; the user fills in each "?".
  std::vector<std::string> missing_sizes;

  /// Returns the facts about a value. They are empty for a name of "" or one that is not known.
  const ValueFacts& of(std::string_view name) const;
};

/// Infers all shapes. Throws Error(kUser) for a binding that names no dimension or input of the model, or
/// contradicts it.
GraphShapes infer_shapes(const OnnxModel& model, const ShapeBindings& bindings);

/// How a convolution or pool moves over an image. Each array has height first, then width.
struct ImageWindow {
  std::int64_t kernel[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1};
  std::int64_t before[2] = {0, 0}, after[2] = {0, 0};  ///< padding
  bool ceil = false;                                   ///< whether a pool rounds its output up
};
/// Returns the window of a Conv or a pool over two spatial dimensions of these sizes, or over one, which is
/// the width of images of height 1. Returns nullopt for more, and for attributes that do not fit together.
/// `kernel` is the filter's, for a node that need not state it.
std::optional<ImageWindow> window_of(const OnnxNode& node, const std::vector<Dim>& sizes,
                                     const std::vector<Dim>& kernel);

}  // namespace lehr
