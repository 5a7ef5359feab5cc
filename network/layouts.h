// Networks whose images have their channels last: the workload that a match becomes, and the nodes between
// matches that compute the same on such images.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "network/matches.h"

namespace lehr {

/// Returns the order of dimensions with which ONNX's Transpose moves a tensor's channels to the end: 0, 2, 3,
/// 1 for an image. `rank` is 2 or more.
std::vector<std::int64_t> to_channels_last(std::size_t rank);
/// Returns the order that moves the channels back: 0, 3, 1, 2 for an image.
std::vector<std::int64_t> to_channels_first(std::size_t rank);

/// A node's form for images with channels last.
struct LastNode {
  std::string_view op, domain;  ///< the operator that it becomes
  /// The new value of the attribute `axis`, if the node has it.
  std::optional<std::int64_t> axis = std::nullopt;
  bool states_layout = false;     ///< whether the node gets the attribute channels_last=1
  std::vector<bool> images = {};  ///< for each input, whether it becomes an image with channels last
};
/// Returns the node's form. Returns nullopt if the node computes something else on images with channels last,
/// or if its shapes are not known.
std::optional<LastNode> last_node(const OnnxNode& node, const GraphShapes& shapes);

/// Whether the elements of a value have the same order in both layouts, so that an engine's Transpose moves
/// nothing.
bool lies_alike(const GraphShapes& shapes, std::string_view value);

/// Returns the workload with channels last; nullopt if it is not a convolution.
std::optional<Workload> channels_last(Workload workload);
bool has_channels_last(const Workload& workload);
/// Whether input number `input` of a match (see Match::inputs) is an image. The images are the first input of
/// a convolution, and a tensor that is added to its output element by element.
bool is_image(const Workload& workload, std::size_t input);

/// For each match, the other workloads that can compute it: in bf16, with channels last, and in bf16 with
/// channels last, in this order. Only workloads that a family serves are included.
using OtherForms = std::unordered_map<const Match*, std::vector<Workload>>;
/// Returns the other forms of all matches. Forms in bf16 (narrow_workloads()) are included only if `narrow`
/// is true. Forms with channels last are included for convolutions in bf16 and in 8 bits. For a convolution
/// in f32 such a form is included only if images connect the convolution with a depthwise convolution, since
/// other convolutions in f32 gain nothing.
OtherForms other_forms(const OnnxModel& model, const GraphShapes& shapes, const Matches& matches,
                       const IsServed& is_served, bool narrow);

}  // namespace lehr
