// What nodes that are linear for each channel do to what a convolution or product makes: a normalization, a
// factor, a summand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "network/constants.h"

namespace lehr {

/// The elements of a constant of f32, one for each channel. Throws Error(kUser), the reason as one sentence,
/// where it is none that the file has.
std::vector<double> channel_elements(const Constants& constants, std::string_view name, std::size_t channels);

/// Of each channel.
struct ScaleShift {
  std::vector<double> scale, shift;
  std::vector<double> peak = {};  ///< the largest that the shift was on the way, in what the last node makes
};
/// Nothing is done so far.
ScaleShift unscaled(std::size_t channels);

/// Numbers on the way beyond this, or below its reciprocal, may be too large or too small for f32 between two
/// nodes, as products with what is computed: sums and saturated values would end elsewhere.
inline constexpr double kLargestFactor = 0x1p64;

/// Works a node into what is done before it: what it does by constants to the value `made`, one of its
/// inputs. Throws as channel_elements(), and where f32 does not hold what is made.
void work_in(const Constants& constants, const OnnxNode& node, std::string_view made, ScaleShift& all);

/// Whether a constant can be worked into others: its elements are finite. Those that are not in the model's
/// own file, or not of f32, are not looked at and pass; work_in() does.
bool is_foldable(const Constants& constants, std::string_view value);
/// The same of a node's work on the value `made`, of so many channels. A quotient by 0 cannot, nor can a
/// variance below 0, nor what other nodes make.
bool is_foldable(const Constants& constants, const OnnxNode& node, std::string_view made,
                 std::size_t channels);

}  // namespace lehr
