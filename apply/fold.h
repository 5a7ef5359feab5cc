// Folds linear nodes that follow a convolution or product into the filter (or B) and the bias of the
// convolution or product.
#pragma once

#include <optional>
#include <vector>

#include "network/constants.h"
#include "network/matches.h"

namespace lehr {

/// Constants that are computed for a match because the network's file does not contain them.
struct Folded {
  /// The new filter, in the shape and layout of the graph's filter. Empty: the kernel uses the graph's
  /// filter.
  std::vector<float> filter;
  std::vector<float> bias;  ///< one element per channel; empty: the workload adds no bias
};

/// Returns the folded constants. Returns nullopt if the graph already has the filter and the bias that the
/// kernel needs, or if the match is quantized or a row expression. Sums and products are computed in double,
/// and only the results are rounded to f32. Throws Error(kUser), with the reason as one sentence, if an
/// operand is not a constant of f32 in the file, or if f32 cannot hold a result or an intermediate value.
std::optional<Folded> fold(const Constants& constants, const Workload& workload, const Match& match);

/// The linear function `scale * x + shift` that the nodes in the match's `scaling` apply to each channel.
/// fold_scaling() throws the same errors as fold().
struct FoldedScaling {
  std::vector<float> scale, shift;
};
FoldedScaling fold_scaling(const Constants& constants, const Workload& workload, const Match& match);

}  // namespace lehr
