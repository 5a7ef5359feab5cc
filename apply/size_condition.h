// Writes ONNX nodes that check whether inputs have certain sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "network/onnx.h"
#include "network/shapes.h"

namespace lehr {

/// Sizes that one dimension of an input may have. All checked dimensions with the same name must have the
/// same size.
struct SizeCheck {
  std::string input;
  std::size_t axis = 0;
  std::int64_t least = 1, most = 1;
  std::string name = {};  ///< name of the dimension; "": it has no name
};
void describe(auto& field, Is<SizeCheck> auto& check) {
  field("input", check.input);
  field("axis", check.axis);
  field("least", check.least);
  field("most", check.most);
  field("name", check.name);
}
/// Returns each size once, such as "batch=1, sequence=1..128". A dimension without a name is written as
/// "dimension 2 of x = 3".
std::string sizes_text(std::span<const SizeCheck> checks);
/// Returns checks of the sizes that the file leaves open and that the user has given. `other_end` has the
/// shapes at the other end of a range of sizes; nullptr: there is no range.
std::vector<SizeCheck> size_checks(const OnnxModel& model, const GraphShapes& shapes,
                                   const GraphShapes* other_end = nullptr);

struct SizeCondition {
  std::string fields;  ///< nodes and constants, as fields of a graph
  std::string name;    ///< name of the result, a bool of one element
};
/// Returns the condition that all checks hold. `checks` must not be empty. `unique` makes a name that nothing
/// else in the file has. A check with a range needs opset 9 or newer.
SizeCondition size_condition(const OnnxModel& model, std::span<const SizeCheck> checks,
                             const std::function<std::string(std::string_view)>& unique);

}  // namespace lehr
