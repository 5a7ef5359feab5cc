// What is linear behind a convolution or product, worked into its filter (or B) and its bias.
#pragma once

#include <optional>
#include <vector>

#include "network/constants.h"
#include "network/places.h"

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
std::optional<Folded> fold(const Constants& constants, const Workload& workload, const NetworkPlace& place);

/// The scale and the shift of each channel that the place's `scaling` is. Throws as fold().
struct FoldedScaling {
  std::vector<float> scale, shift;
};
FoldedScaling fold_scaling(const Constants& constants, const Workload& workload, const NetworkPlace& place);

}  // namespace lehr
