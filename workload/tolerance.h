// The largest error of right sums: bounds that hold for all elements of an output together.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "workload/math_mode.h"
#include "workload/operand.h"

namespace lehr {

/// Returns how unlikely it must be that one sum exceeds a bound, as -ln(probability), so that one of `count`
/// sums (>= 1) exceeds it at most once in a million checks. A check may ask for three such bounds. Grows with
/// ln(count).
double rarity_of(std::int64_t count);

/// Returns a bound on the rounding error of a sum of `products` products of two values of variance 1, in any
/// order of summation. Each rounding is off by a random share of its partial sum with a standard deviation of
/// 1: multiply by that of the arithmetic. Exceeded with probability exp(-rarity). Derivation in
/// tolerance.cpp.
double rounding_bound(double products, double rarity);

/// Returns the largest standard deviation of one rounding to f32, as a share of the rounded value.
double f32_rounding();

/// Returns a bound on the sum of independent errors that have this total variance and exponential tails with
/// this scale. Exceeded with probability 2 exp(-rarity).
double gathered_bound(double variance, double scale, double rarity);

/// Largest float of make_inputs(), rounded up: a sum of four uniform numbers, scaled to variance 1 (2
/// sqrt(3)) and rounded to its type.
inline constexpr double kLargestInput = 3.5;

/// Returns a bound on the size of each of `count` sums of `products` products of values of make_inputs().
double largest_of_sums(std::int64_t products, std::int64_t count);

/// Sums of `products` products each, of two operands. The first one may have a zero point.
struct ProductSums {
  std::int64_t products = 0;
  DType operand = DType::kF32, second = DType::kF32;  ///< types of the two operands
  DType accum = DType::kF32;
  Math math = Math::kStrict;
  ZeroPoint zero = ZeroPoint::kNone;
  float scale = 1;  ///< each whole sum is multiplied by it, in the type of the sums
  /// False if tensor cores cannot help: one channel is summed up in each group.
  bool of_matrices = true;
};

/// Returns a bound on the error of each of `count` such sums, before they are rounded to 16 bits, for inputs
/// of make_inputs(): 0 for integers.
double tolerance_of_sums(const ProductSums& sums, std::int64_t count);

}  // namespace lehr
