// Folds linear nodes that follow a convolution or product into the filter (or B) and the bias of the
// convolution or product.
#pragma once

#include <optional>
#include <vector>

#include "network/constants.h"
#include "network/matches.h"

namespace lehr {

/// Constants of a match that the file does not have.
struct Folded {
  /// The new filter, in the shape and layout of the graph's filter; empty: the graph's filter is used.
  std::vector<float> filter;
  std::vector<float> bias;  ///< one per channel
};

/// Returns the folded constants. Returns nullopt if nothing is folded, because all inputs of the match are
/// values of the graph. Sums and products are computed in double and rounded once. Throws Error(kUser), with
/// the reason as one sentence, if an operand is not a constant of f32 in the file, or if f32 cannot hold a
/// result or an intermediate value.
std::optional<Folded> fold(const Constants& constants, const Workload& workload, const Match& match);

/// The scale and shift of each channel that the nodes in the match's `scaling` compute. fold_scaling() throws
/// as fold() does.
struct FoldedScaling {
  std::vector<float> scale, shift;
};
FoldedScaling fold_scaling(const Constants& constants, const Workload& workload, const Match& match);

}  // namespace lehr
