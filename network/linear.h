// Computes the scales and shifts of nodes after a convolution or product that are linear per channel: a
// normalization, a factor, a summand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "network/constants.h"

namespace lehr {

/// Returns the elements of a constant of f32 with one element per channel. Throws Error(kUser), with the
/// reason as one sentence, if the value is not such a constant of the file.
std::vector<double> channel_elements(const Constants& constants, std::string_view name, std::size_t channels);

/// A scale and a shift per channel.
struct ScaleShift {
  std::vector<double> scale, shift;
  /// Largest magnitude of each channel's shift after any of the nodes, scaled to the last node's output.
  std::vector<double> peak = {};
};
/// Returns scales of 1 and shifts of 0.
ScaleShift unscaled(std::size_t channels);

/// A factor beyond this, or below its reciprocal, may overflow or underflow f32 between two nodes when it is
/// multiplied with computed values. Sums and saturated values would then differ.
inline constexpr double kLargestFactor = 0x1p64;

/// Appends the operation of a node, which reads `made` and constants, to the scales and shifts in `all`.
/// Throws as channel_elements() does, and if f32 cannot hold the result.
void work_in(const Constants& constants, const OnnxNode& node, std::string_view made, ScaleShift& all);

/// Whether a constant can be folded into other constants: its elements must be finite. Returns true without
/// reading the elements if the constant is not of f32 or is in another file; work_in() checks it later.
bool is_foldable(const Constants& constants, std::string_view value);
/// Whether a node's operation on its input `made`, which has `channels` channels, can be folded. It cannot be
/// folded if it divides by 0, has a variance below 0, or reads values that other nodes compute.
bool is_foldable(const Constants& constants, const OnnxNode& node, std::string_view made,
                 std::size_t channels);

}  // namespace lehr
