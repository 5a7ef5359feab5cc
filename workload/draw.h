// How the elements of a tensor are drawn for a check.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "base/input_step.h"

namespace lehr {

/// From a number of the generator (inputs.h), which is like that of a normal distribution.
struct Draw {
  enum class Kind {
    kNormal,    ///< of this mean and deviation; no value is farther from the mean than 2 sqrt(3) deviations
    kScale,     ///< kLeastScaling to kMostScaling times `deviation`
    kZeroPoint  ///< one of a few over the range of u8 or s8: its ends, and some near its middle
  };
  Kind kind = Kind::kNormal;
  double mean = 0, deviation = 1;
  friend bool operator==(const Draw&, const Draw&) = default;
};

inline constexpr double kLeastScaling = 0.5, kMostScaling = 2;

/// In which row of an array with rows of this length an element lies decides how it is drawn: every other row
/// is as usual, those between them have a mean of 1000, a deviation 30 times or 0.001 of the usual one, one
/// spike of 100, -inf everywhere or in every third column, or one NaN. The seed says with which it begins.
float drawn_in_row(DType type, float usual, std::uint64_t seed, std::int64_t row, std::int64_t index);

/// Where nothing else is asked for. Normal(0,1)-like; integers with a deviation of 25, which uses most of
/// s8's range and keeps sums of up to 10^7 products below 2^24, where the expected values (f32) are exact; u8
/// around the middle of its range, all of it.
Draw usual_draw(DType type);

/// The zero points of u8 or s8 that are drawn, by their number; in f32 those of u8.
inline constexpr std::int64_t kZeroPoints = 8;
std::int64_t zero_point(DType type, std::int64_t number);

/// The value of number `step` of kInputSteps, which `type` can hold.
float drawn_value(DType type, const Draw& draw, std::int64_t step);

}  // namespace lehr
