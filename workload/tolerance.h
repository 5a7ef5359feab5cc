// The maximum error of correct sums: bounds that hold for all elements of an output together.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "workload/math_mode.h"
#include "workload/operand.h"

namespace lehr {

/// Returns how improbable it must be that one sum exceeds a bound, as -ln(probability). With `count` sums (>=
/// 1), at least one then exceeds it in at most one of a million checks. A check may use three such bounds.
/// Grows with ln(count).
double rarity_of(std::int64_t count);

/// Returns a bound on the rounding error of a sum of `products` products of two values with variance 1, for
/// any order of summation. It assumes that each rounding has a random error whose standard deviation is 1
/// relative to the partial sum; multiply the bound by the actual standard deviation of the arithmetic (e.g.
/// f32_rounding()). Exceeded with probability exp(-rarity). Derivation in tolerance.cpp.
double rounding_bound(double products, double rarity);

/// Returns the maximum standard deviation of one rounding to f32, relative to the rounded value.
double f32_rounding();

/// Returns a bound on the sum of independent errors with this total variance and with exponential tails of
/// this scale. Exceeded with probability 2 exp(-rarity).
double gathered_bound(double variance, double scale, double rarity);

/// Maximum absolute value of floats from make_inputs(), rounded up. They are sums of four uniform numbers,
/// scaled to variance 1 (maximum 2 sqrt(3)) and rounded to their type.
inline constexpr double kLargestInput = 3.5;

/// Returns a bound on the absolute value of each of `count` sums, of `products` products each, of values from
/// make_inputs().
double largest_of_sums(std::int64_t products, std::int64_t count);

/// Sums of `products` products each, of elements of two operands. The first operand may have a zero point.
struct ProductSums {
  std::int64_t products = 0;
  DType operand = DType::kF32, second = DType::kF32;  ///< types of the two operands
  DType accum = DType::kF32;
  Math math = Math::kStrict;
  ZeroPoint zero = ZeroPoint::kNone;
  float scale = 1;  ///< factor for each complete sum, in the type of the sums
  /// Whether tensor cores can compute the sums. Not if each group sums up only one channel.
  bool of_matrices = true;
};

/// Returns a bound on the error of each of `count` such sums, before they are rounded to 16 bits, for inputs
/// from make_inputs(). 0 for integers.
double tolerance_of_sums(const ProductSums& sums, std::int64_t count);

}  // namespace lehr
