// What each operator makes of the facts of its inputs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/shapes.h"

namespace lehr {

/// A node, with what is known of what it reads and makes.
struct ShapeSite {
  const OnnxNode& node;
  std::int64_t opset;
  std::vector<const ValueFacts*> inputs;  ///< facts of nothing for one that is left out
  std::vector<ValueFacts> outputs;        ///< as many as the node has; filled by the rule

  const ValueFacts& in(std::size_t i) const;
  bool has(std::size_t i) const { return !node.input(i).empty(); }
};

using ShapeRule = void (*)(ShapeSite& site);

/// nullptr for an operator that is not known.
ShapeRule shape_rule_of(std::string_view op);

}  // namespace lehr
