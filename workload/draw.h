// How the elements of a tensor are drawn for a check.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "base/input_step.h"

namespace lehr {

/// How an input's value is made from a number of the generator (inputs.h). The generator's numbers are
/// distributed approximately normally.
struct Draw {
  enum class Kind {
    /// Distributed with this mean and deviation. No value is farther from the mean than 2 sqrt(3) deviations.
    kNormal,
    kScale,     ///< `deviation` times a factor from kLeastScaling to kMostScaling
    kZeroPoint  ///< one of a few values in the range of u8 or s8: its ends, and some near its middle
  };
  Kind kind = Kind::kNormal;
  double mean = 0, deviation = 1;
  friend bool operator==(const Draw&, const Draw&) = default;
};

inline constexpr double kLeastScaling = 0.5, kMostScaling = 2;

/// Returns the value of an element of an array with rows of `row` elements. The number of the element's row
/// decides how it is drawn. Every other row has usual values. The rows between them have a mean of 1000, a
/// deviation of 30 times or 0.001 of the usual one, one spike of 100, -inf everywhere or in every third
/// column, or one NaN. The seed decides with which of these the array begins.
float drawn_in_row(DType type, float usual, std::uint64_t seed, std::int64_t row, std::int64_t index);

/// Returns the usual draw of a type. Floats are Normal(0,1)-like. s8 has a deviation of 25, which uses most
/// of its range and keeps sums of up to 10^7 products below 2^24, where the expected values (f32) are exact.
/// u8 is drawn around the middle of its range and uses all of it.
Draw usual_draw(DType type);

/// Number of zero points from which one is drawn for u8 or s8; f32 uses the zero points of u8.
inline constexpr std::int64_t kZeroPoints = 8;
std::int64_t zero_point(DType type, std::int64_t number);

/// Returns the value for number `step` (below kInputSteps) of the generator. `type` can represent it exactly.
float drawn_value(DType type, const Draw& draw, std::int64_t step);

}  // namespace lehr
