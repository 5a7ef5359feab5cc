// A network whose images have their channels last: which workload a place would be, and which nodes between
// places compute the same of such images.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "network/places.h"

namespace lehr {

/// Returns the order of a tensor's dimensions with its channels last, for ONNX's Transpose: 0, 2, 3, 1 of an
/// image. `rank` is 2 or more.
std::vector<std::int64_t> to_channels_last(std::size_t rank);
/// Returns the order that takes it back: 0, 3, 1, 2 of an image.
std::vector<std::int64_t> to_channels_first(std::size_t rank);

/// A node as it is of images whose channels are last.
struct LastNode {
  std::string_view op, domain;  ///< the operator that it becomes
  /// The new value of its attribute of that name, if it has one.
  std::optional<std::int64_t> axis = std::nullopt;
  bool states_layout = false;     ///< it gets the attribute channels_last=1
  std::vector<bool> images = {};  ///< of each input whether it is such an image, too
};
/// nullopt where the node computes something else of such images, or its shapes are not known.
std::optional<LastNode> last_node(const OnnxNode& node, const GraphShapes& shapes);

/// Whether the elements of a value lie alike in both layouts, so that an engine's Transpose moves nothing.
bool lies_alike(const GraphShapes& shapes, std::string_view value);

/// Returns the convolution with channels last; nullopt for other operators.
std::optional<Workload> channels_last(Workload workload);
bool has_channels_last(const Workload& workload);
/// Whether an input of a place, counted as NetworkPlace::inputs, is an image: the first one of a convolution
/// and what is added to its output element by element.
bool is_image(const Workload& workload, std::size_t input);

/// The other workloads that compute a place, at least one, each served: first in bf16, then with channels
/// last, then both.
using OtherForms = std::unordered_map<const NetworkPlace*, std::vector<Workload>>;
/// In bf16 if `narrow` (narrow_workloads()). Channels are last of convolutions in bf16 and in 8 bits; of f32
/// only where one of their run is depthwise, since others gain nothing.
OtherForms other_forms(const OnnxModel& model, const GraphShapes& shapes, const NetworkPlaces& places,
                       const IsServed& is_served, bool narrow);

}  // namespace lehr
