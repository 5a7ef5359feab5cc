// Rules that infer an operator's outputs from the facts about its inputs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "network/shapes.h"

namespace lehr {

/// A node, with the known facts about its inputs and outputs.
struct ShapeSite {
  const OnnxNode& node;
  std::int64_t opset;
  std::vector<const ValueFacts*> inputs;  ///< empty facts for an input that the node omits
  std::vector<ValueFacts> outputs;        ///< one per output of the node; filled by the rule

  const ValueFacts& in(std::size_t i) const;
  bool has(std::size_t i) const { return !node.input(i).empty(); }
};

using ShapeRule = void (*)(ShapeSite& site);

/// Returns the rule of an operator; nullptr if the operator is not known, or if infer_quantized() handles it.
ShapeRule shape_rule_of(std::string_view op, std::string_view domain);

/// Fills in the outputs of a node that computes in integers, of any domain. Returns false for another node.
bool infer_quantized(ShapeSite& site);

namespace rules {

// Rules that other files build on.
void same(ShapeSite& site);  ///< the output is like the first input
void gemm(ShapeSite& site);
void matmul(ShapeSite& site);

// Rules of image_rules.cpp, layout_rules.cpp and list_rules.cpp.
void conv(ShapeSite& site);
void pool(ShapeSite& site);
void global_pool(ShapeSite& site);
void conv_transpose(ShapeSite& site);
void resize(ShapeSite& site);
void blocks(ShapeSite& site);

void flatten(ShapeSite& site);
void reshape(ShapeSite& site);
void transpose(ShapeSite& site);
void concat(ShapeSite& site);
void split(ShapeSite& site);
void slice(ShapeSite& site);
void squeeze(ShapeSite& site);
void unsqueeze(ShapeSite& site);
void gather(ShapeSite& site);
void like_second(ShapeSite& site);
void expand(ShapeSite& site);
void tile(ShapeSite& site);
void pad(ShapeSite& site);

void arithmetic(ShapeSite& site);
void comparison(ShapeSite& site);
void where(ShapeSite& site);
void shape_itself(ShapeSite& site);
void size_itself(ShapeSite& site);
void constant(ShapeSite& site);
void constant_of_shape(ShapeSite& site);
void range(ShapeSite& site);

}  // namespace rules

}  // namespace lehr
