#include "workload/tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/error.h"

namespace lehr {
namespace {

/// A right output is called wrong once in so many checks, whatever its size.
constexpr double kChecks = 1e6;
/// Each of these bounds has its share of that: of the roundings; of what operands, transforms or tensor cores
/// lose; of the sums before an epilogue.
constexpr double kBounds = 3;
/// Products that a tensor core adds to a sum at a time, where they are of 8-bit floats.
constexpr double kStep = 32;

// Hopper's tensor cores keep 13 fraction bits of the largest of a step's 32 products and the sum so far, so
// that each of the 33 loses up to a unit of them, uniformly: a step is off by sqrt(33 / 3) units, and a unit
// is at most 2^-13 of the sum. There is one such rounding per 32 products: as many fewer,
// so that the bound is smaller by sqrt(32). The largest product of a step takes the sum's place while that is
// small: it is about as large as a sum of 32 of them, as though the sum had begun a step earlier; another
// half step for the last one. (What the sum itself loses is always taken from its size, which adds up faster
// than what is random: at k = 32768 it is still less than what lies between a unit and its bound.)
// With two levels, the same of sums of 128 products at most, which are independent. Beside such a sum only
// the products below 2^-7 of it have bits to lose (they have 6 fraction bits): at most a quarter of them.
double loss_of_8_bit_floats(const Gemm& g, double rarity) {
  const double k = static_cast<double>(g.k);
  const bool two_level = g.math == Math::kTwoLevel;
  const double together = two_level ? std::min(k, static_cast<double>(kTwoLevelK)) : k;
  const double losing = two_level ? 33.0 / 4 : 33.0;
  const double step = 0x1p-13 * std::sqrt(losing / 3 / kStep);
  const double products = kStep * (std::ceil(together / kStep) + 1.5);
  if (!two_level) return step * rounding_bound(products, rarity);
  // Moments of 1 / sqrt(cos t) (rounding_bound()): a variance of 1/2, a tail of the scale 2 / pi.
  return step * (products + rarity / 4) *
         gathered_bound(std::ceil(k / together) / 2, 2 / std::numbers::pi, rarity);
}

}  // namespace

double rarity_of(std::int64_t count) {
  CHECK(count >= 1, "{} sums", count);
  return std::log(2 * kBounds * kChecks * static_cast<double>(count));
}

// Every partial sum of an order of summation is rounded: the error of the result is E, the sum over these
// partial sums s of d s, where the d are independent, uniform about 0 and, here, of variance 1. So E has
// variance Q, the sum of s^2 - but Q is random, too: an element whose partial sums happen to be large has
// large errors, and it is these elements that have the largest errors of an output. Let products be normal of
// variance 1 to begin with.
// - The order. Given the products, E's moments exp(t E) are at most exp(t^2 Q / 2), whose mean is
//   1 / sqrt(det(1 - t^2 M)), where M is the matrix of how many products two partial sums have in common. Its
//   logarithm is a series in the traces of powers of M, with positive factors. Of the i-th largest partial
//   sum of any tree with k leaves, k - i + 1 leaves at most are below (it has as many inner nodes less one,
//   all of them smaller), and two have no more in common than the smaller one has, as in the chain that adds
//   one product after the other. So that chain has the largest moments: it is the worst order.
// - The chain. Its eigenvalues are 1 / (4 sin^2((2 j - 1) pi / (4 k + 2))), those of a random walk whose
//   squares are added up, and for large k the moments of E / k are 1 / sqrt(cos t). They end at t = pi / 2:
//   the tail is exponential, P(|E| > z k) < exp(-z pi / 2). (At z = 0, 1, 2, 4, 6 the probability is 1, 0.61,
//   0.46, 0.34 and 0.28 of that.) Solved for z: 2 / pi times the rarity, times k. Six deviations would be
//   what a normal E had.
// - Products are no normals: those of one row of A share its size. Given a row, the walk has steps of
//   variance a^2, and E's scale is k sqrt(mean of a^2) where that mean, of k values, has deviations
//   sqrt(2 / k). An element is beyond z most likely where both are large: the most likely mix makes
//   rarity^2 / (4 k) of the exponent, which rarity / 4 more products give back. Products bounded by 12 do the
//   rest for small k: importance sampling in f32 for k = 1 to 8192 found the errors of probability 1e-4,
//   1e-8, 1e-12 and 1e-14 at 0.4 to 0.75 of this bound, at 0.7 where k is above 30.
double rounding_bound(double products, double rarity) {
  return 2 / std::numbers::pi * rarity * (products + rarity / 4);
}

// Bernstein's bound for moments below exp(t^2 variance / (2 - 2 scale t)).
double gathered_bound(double variance, double scale, double rarity) {
  return std::sqrt(2 * variance * rarity) + scale * rarity;
}

// The moments of a product of two normals are 1 / sqrt(1 - t^2).
double largest_of_sums(std::int64_t products, std::int64_t count) {
  const auto k = static_cast<double>(products);
  return std::min(gathered_bound(k, 1, rarity_of(count)), k * kLargestInput * kLargestInput);
}

// A rounding is off by half a unit in the last place at most, uniformly, and a unit is at most epsilon times
// the sum.
double f32_rounding() {
  return std::numeric_limits<float>::epsilon() / std::sqrt(12.0);
}

// In f32 there are two more roundings than partial sums: of products that are not fused into the sum
// (together they count for less than one of the whole sum), and of the expected value. Each of these adds
// what its arithmetic loses, to a product or, for 8-bit floats, to a sum:
// - tf32: two operands rounded by up to 2^-11 of their size, uniformly;
// - 3xtf32: what is left of the operands is below 2^-22 of them, and the product of the two rests is left out
//   (2^-22 too): together below 2^-20, with a deviation below 2^-21.
// The rounding to a 16-bit C is not in it: measure/core/check.h allows half a unit of the very value.
double tolerance_of_sums(const Gemm& g, std::int64_t count) {
  if (g.accum == DType::kS32) return 0;
  const double k = static_cast<double>(g.k);
  const double rarity = rarity_of(count);
  double tolerance = f32_rounding() * rounding_bound(k + 2, rarity);
  if (g.math == Math::kTf32) tolerance += gathered_bound(k * 0x1p-22 * 2 / 3, 0x1p-10, rarity);
  if (g.math == Math::k3xTf32) tolerance += gathered_bound(k * 0x1p-42, 0x1p-20, rarity);
  if (is_8_bit_float(g.a.type)) tolerance += loss_of_8_bit_floats(g, rarity);
  return tolerance;
}

}  // namespace lehr
