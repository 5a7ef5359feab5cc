// How far right sums may be from the exact ones: bounds that all elements of an output keep together.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "workload/math_mode.h"
#include "workload/operand.h"

namespace lehr {

/// How unlikely it must be that one sum exceeds a bound, as -ln(probability), so that none of `count` sums
/// (>= 1) does but once in a million checks, each of which may ask three such bounds. Grows with ln(count).
double rarity_of(std::int64_t count);

/// Bound on the rounding error of a sum of `products` products of two values of variance 1, in any order of
/// summation, where each rounding is off by a random share of its partial sum whose standard deviation is 1:
/// multiply by that of the arithmetic. Exceeded with probability exp(-rarity). Derivation in tolerance.cpp.
double rounding_bound(double products, double rarity);

/// Standard deviation of one rounding to f32 as a share of what is rounded, at most.
double f32_rounding();

/// Bound on the sum of errors with this total variance that are independent and have exponential tails with
/// this scale. Exceeded with probability 2 exp(-rarity).
double gathered_bound(double variance, double scale, double rarity);

/// No float of make_inputs() is larger: a sum of four uniform numbers, scaled to variance 1 (2 sqrt(3)) and
/// rounded to its type.
inline constexpr double kLargestInput = 3.5;

/// Bound on the size of each of `count` sums of `products` products of values of make_inputs().
double largest_of_sums(std::int64_t products, std::int64_t count);

/// Sums of so many products each, of two operands, the first one of which may have a zero point.
struct ProductSums {
  std::int64_t products = 0;
  DType operand = DType::kF32, second = DType::kF32;  ///< types of the two
  DType accum = DType::kF32;
  Math math = Math::kStrict;
  ZeroPoint zero = ZeroPoint::kNone;
  float scale = 1;          ///< each whole sum is multiplied by it, in the type of the sums
  bool of_matrices = true;  ///< false where tensor cores are no help: one channel is summed up in each group
};

/// Bound on the error of each of `count` such sums, before they are rounded to 16 bits, for inputs of
/// make_inputs(): 0 for integers.
double tolerance_of_sums(const ProductSums& sums, std::int64_t count);

}  // namespace lehr
