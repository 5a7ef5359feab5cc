// A network whose images have their channels last: the workload that a match would be, and the nodes between
// matches that compute the same on such images.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "network/matches.h"

namespace lehr {

/// Returns the order of dimensions that moves a tensor's channels last, for ONNX's Transpose: 0, 2, 3, 1 of
/// an image. `rank` is 2 or more.
std::vector<std::int64_t> to_channels_last(std::size_t rank);
/// Returns the order that moves them back: 0, 3, 1, 2 of an image.
std::vector<std::int64_t> to_channels_first(std::size_t rank);

/// A node's form for images with channels last.
struct LastNode {
  std::string_view op, domain;  ///< the operator that it becomes
  /// The new value of its attribute of that name, if it has one.
  std::optional<std::int64_t> axis = std::nullopt;
  bool states_layout = false;     ///< whether it gets the attribute channels_last=1
  std::vector<bool> images = {};  ///< for each input, whether it is such an image too
};
/// Returns the node's form; nullopt if the node computes something else on such images, or its shapes are not
/// known.
std::optional<LastNode> last_node(const OnnxNode& node, const GraphShapes& shapes);

/// Whether the elements of a value have the same order in both layouts, so that an engine's Transpose moves
/// nothing.
bool lies_alike(const GraphShapes& shapes, std::string_view value);

/// Returns the workload with channels last; nullopt if it is not a convolution.
std::optional<Workload> channels_last(Workload workload);
bool has_channels_last(const Workload& workload);
/// Whether an input of a match, counted as Match::inputs, is an image: the first input of a
/// convolution, and a tensor that is added to its output element by element.
bool is_image(const Workload& workload, std::size_t input);

/// The other workloads that compute a match, at least one, each of them served: first in bf16, then with
/// channels last, then both.
using OtherForms = std::unordered_map<const Match*, std::vector<Workload>>;
/// Returns the other forms of all matches; bf16 only if `narrow` (narrow_workloads()). Channels are last for
/// convolutions in bf16 and in 8 bits. In f32 they are last only if the run has a depthwise convolution,
/// since others gain nothing.
OtherForms other_forms(const OnnxModel& model, const GraphShapes& shapes, const Matches& matches,
                       const IsServed& is_served, bool narrow);

}  // namespace lehr
