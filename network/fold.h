// What is linear behind a convolution or product, worked into its filter (or B) and its bias.
#pragma once

#include <optional>
#include <vector>

#include "network/constants.h"
#include "network/tasks.h"

namespace lehr {

/// Constants of a place that the file does not have.
struct Folded {
  std::vector<float> filter;  ///< in the shape and layout of the graph's; empty: the graph's own serves
  std::vector<float> bias;    ///< one for each channel
};

/// nullopt where nothing is folded: all inputs are values of the graph. Sums and products are made in double
/// and rounded once. Throws Error(kUser), the reason as one sentence, where what is folded is no constant
/// that the file has, or not f32, and where f32 would not hold what is made of it, or on the way would not
/// have.
std::optional<Folded> fold(const Constants& constants, const Workload& workload, const ModelPlace& place);

/// The scale and the shift of each channel that the place's `scaling` is. Throws as fold().
struct FoldedScaling {
  std::vector<float> scale, shift;
};
FoldedScaling fold_scaling(const Constants& constants, const Workload& workload, const ModelPlace& place);

/// Whether a constant can be folded: its elements are finite. Those that are not in the model's own file, or
/// not of f32, are not looked at and pass; fold() does.
bool is_foldable(const Constants& constants, std::string_view value);
/// The same of a node's work on the value `made`, of so many channels: a normalization, a factor, a summand
/// by constants. A quotient by 0 cannot, nor can a variance below 0.
bool is_foldable(const Constants& constants, const OnnxNode& node, std::string_view made,
                 std::size_t channels);

}  // namespace lehr
