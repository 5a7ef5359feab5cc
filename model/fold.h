// What is linear behind a convolution or product, worked into its filter (or B) and its bias.
#pragma once

#include <optional>
#include <vector>

#include "model/constants.h"
#include "model/tasks.h"

namespace lehr {

/// Constants of a place that the file does not have.
struct Folded {
  std::vector<float> filter;  ///< in the shape and layout of the graph's; empty: the graph's own serves
  std::vector<float> bias;    ///< one for each channel
};

/// Each as the nearest f32.
std::vector<float> rounded(const std::vector<double>& values);

/// nullopt where nothing is folded: all inputs are values of the graph. Sums and products are made in double
/// and rounded once. Throws Error(kUser), the reason as one sentence, where what is folded is no constant
/// that the file has, or not f32.
std::optional<Folded> fold(const Constants& constants, const Workload& workload, const ModelPlace& place);

/// The scale and the shift of each channel that the place's `scaling` is. Throws as fold().
struct ScaleShift {
  std::vector<double> scale, shift;
};
ScaleShift scale_shift_of(const Constants& constants, const Workload& workload, const ModelPlace& place);

}  // namespace lehr
