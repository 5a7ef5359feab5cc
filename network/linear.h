// Nodes after a convolution or product that are linear per channel: a normalization, a factor, a summand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "network/constants.h"

namespace lehr {

/// Returns the elements of a constant of f32, one per channel. Throws Error(kUser), with the reason as one
/// sentence, if the value is not such a constant of the file.
std::vector<double> channel_elements(const Constants& constants, std::string_view name, std::size_t channels);

/// A scale and a shift per channel.
struct ScaleShift {
  std::vector<double> scale, shift;
  /// Largest magnitude of the shift on the way, in units of the last node's output.
  std::vector<double> peak = {};
};
/// Returns scales of 1 and shifts of 0.
ScaleShift unscaled(std::size_t channels);

/// A factor beyond this, or below its reciprocal, may overflow or underflow f32 between two nodes when it is
/// multiplied with computed values. Sums and saturated values would then differ.
inline constexpr double kLargestFactor = 0x1p64;

/// Works a node into `all`: its operation with constants on its input `made`. Throws as channel_elements(),
/// and if f32 cannot hold the result.
void work_in(const Constants& constants, const OnnxNode& node, std::string_view made, ScaleShift& all);

/// Whether a constant can be folded into others: its elements are finite. Constants of another type, or
/// outside of the model's own file, are not read and pass here; work_in() reads them.
bool is_foldable(const Constants& constants, std::string_view value);
/// Whether a node's operation on its input `made`, with this many channels, can be folded. It cannot with a
/// quotient by 0, a variance below 0, or values that other nodes compute.
bool is_foldable(const Constants& constants, const OnnxNode& node, std::string_view made,
                 std::size_t channels);

}  // namespace lehr
