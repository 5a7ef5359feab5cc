#include "workload/tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/error.h"

namespace lehr {
namespace {

/// Number of checks in which one correct output may be judged wrong, whatever its size.
constexpr double kChecks = 1e6;
/// Number of bounds that share this probability: one for the roundings; one for the losses of operands,
/// products or transforms; one for the loss of a sum in a tensor core; one for the sums before an epilogue.
constexpr double kBounds = 4;
/// Number of products of 8-bit floats that a tensor core adds to a sum at a time.
constexpr double kStep = 32;

// In each step, a Hopper tensor core adds 32 products to the sum so far. It keeps 13 fraction bits relative
// to the largest of these 33 numbers, so that each of them loses up to one unit of the last bit, uniformly
// distributed. The error of a step is then sqrt(33 / 3) units, and a unit is at most 2^-13 of the sum. (Ada's
// tensor cores add 16 products in a step: 17 numbers lose bits, in twice as many steps.) There is one such
// error per 32 products instead of one rounding per product, so the bound is smaller by sqrt(32). While the
// sum is small, the largest product of a step determines the unit. It is about as large as a sum of 32
// products, as if the sum had begun a step earlier: that adds one step, and half a step is added for the last
// one. The sum itself loses nothing until a step makes it longer, because before that it has no more bits
// than the tensor core keeps. So it does not drift.
//
// With two levels, the same holds for independent sums of at most 128 products. Compared with such a sum,
// only products below 2^-7 of it have bits to lose (they have 6 fraction bits): at most a quarter of the
// products.
double loss_of_8_bit_floats(const ProductSums& s, double rarity) {
  const double k = static_cast<double>(s.products);
  const bool two_level = s.math == Math::kTwoLevel;
  const double together = two_level ? std::min(k, static_cast<double>(kTwoLevelK)) : k;
  const double losing = two_level ? 33.0 / 4 : 33.0;
  const double step = 0x1p-13 * std::sqrt(losing / 3 / kStep);
  const double products = kStep * (std::ceil(together / kStep) + 1.5);
  if (!two_level) return step * rounding_bound(products, rarity);
  // Moments of 1 / sqrt(cos t) (rounding_bound()): a variance of 1/2, a tail of the scale 2 / pi.
  return step * (products + rarity / 4) *
         gathered_bound(std::ceil(k / together) / 2, 2 / std::numbers::pi, rarity);
}

/// Returns whether the sums may stay in a tensor core that keeps more fraction bits while it adds than
/// afterwards. That does not apply to 8-bit floats. With 3xTF32, sums leave the tensor core after every step:
/// their losses there have either sign, and are smaller than the rounding errors that they replace.
bool drifts_in_tensor_core(const ProductSums& s) {
  const bool of_16_bits = s.operand == DType::kF16 || s.operand == DType::kBF16;
  return s.accum == DType::kF32 && s.math == (of_16_bits ? Math::kStrict : Math::kTf32);
}

// A tensor core does not round: after every step it truncates the sum towards zero below fraction bit 23.
// Khattak and Mikaitis ("Accurate Models of NVIDIA Tensor Cores", arXiv 2512.07004) found that on Ampere it
// keeps one bit more while it adds, in steps of 8 products of 16 bits and of 4 products of tf32. So it loses
// half a unit every other time, a quarter of a unit on average. On Hopper it keeps two bits more, and its
// steps have twice as many products (measured: tests/emulator/tensor_sum.h), so it loses 3/8 of a unit, half
// as often. On Volta there are no more bits.
//
// The difference of a step's loss from the average is random, as a rounding error is. But the average loss, a
// quarter of a unit, always makes the sum smaller. A unit is at most 2^-23 of the sum, so in every step the
// sum drifts by 2^-25 of its mean absolute value.
//
// The sums of k products of variance 1 are a random walk W. Their mean absolute value is sqrt(k) times the
// integral of |W| over one unit of time. That integral has the mean 2/3 sqrt(2 / pi), and exceeds it by z
// with a probability of at most exp(-3/2 z^2), by the inequality of Borell and of Tsirelson, Ibragimov and
// Sudakov: the integral is the largest of the integrals of f W with |f| <= 1, which are normal with variances
// of at most 1/3. With few steps the sum is larger than the integral, as if there were 3/4 of a step more.
// All products of one row of A share its size. A walk most probably exceeds z where both the row and the
// integral are large, which adding `rarity` to the number of products accounts for (as in rounding_bound()).
double drift_in_tensor_core(const ProductSums& s, double rarity) {
  const double k = static_cast<double>(s.products), of_a_step = s.math == Math::kTf32 ? 4 : 8;
  const double steps = std::ceil(k / of_a_step) + 0.75;
  const double mean = 2.0 / 3 * std::sqrt(2 / std::numbers::pi);
  return 0x1p-25 * steps * (mean + std::sqrt(rarity * 2 / 3)) * std::sqrt(k + rarity);
}

}  // namespace

double rarity_of(std::int64_t count) {
  CHECK(count >= 1, "{} sums", count);
  return std::log(2 * kBounds * kChecks * static_cast<double>(count));
}

// Every partial sum of an order of summation is rounded. The error of the result is E, the sum over these
// partial sums s of d s, where the d are independent, uniform about 0 and, here, of variance 1. So E has
// variance Q, the sum of s^2. But Q is random, too: an element whose partial sums happen to be large has
// large errors, and these elements have the largest errors of an output. Let products be normal of variance 1
// to begin with.
// - The order. Given the products, E's moments exp(t E) are at most exp(t^2 Q / 2), whose mean is
//   1 / sqrt(det(1 - t^2 M)). The matrix M counts the products that two partial sums have in common. Its
//   logarithm is a series in the traces of powers of M, with positive factors. The i-th largest partial sum
//   of any tree with k leaves has at most k - i + 1 leaves below (it has as many inner nodes less one, all of
//   them smaller), and two have no more in common than the smaller one has, as in the chain that adds one
//   product after the other. So that chain has the largest moments: it is the worst order.
// - The chain. Its eigenvalues are 1 / (4 sin^2((2 j - 1) pi / (4 k + 2))), those of a random walk whose
//   squares are added up, and for large k the moments of E / k are 1 / sqrt(cos t). They end at t = pi / 2:
//   the tail is exponential, P(|E| > z k) < exp(-z pi / 2). (At z = 0, 1, 2, 4, 6 the probability is 1, 0.61,
//   0.46, 0.34 and 0.28 of that.) Solved for z: 2 / pi times the rarity, times k. A normal E would have six
//   deviations.
// - Products are not normal: those of one row of A share its size. Given a row, the walk has steps of
// variance
//   a^2, and E's scale is k sqrt(mean of a^2), where that mean, of k values, has deviations sqrt(2 / k). An
//   element is beyond z most likely where both are large: the most likely mix makes rarity^2 / (4 k) of the
//   exponent, which rarity / 4 more products make up for. Products bounded by 12 do the rest for small k:
//   importance sampling in f32 for k = 1 to 8192 found the errors of probability 1e-4, 1e-8, 1e-12 and 1e-14
//   at 0.4 to 0.75 of this bound, at 0.7 where k is above 30.
double rounding_bound(double products, double rarity) {
  return 2 / std::numbers::pi * rarity * (products + rarity / 4);
}

// Returns Bernstein's bound for moments below exp(t^2 variance / (2 - 2 scale t)).
double gathered_bound(double variance, double scale, double rarity) {
  return std::sqrt(2 * variance * rarity) + scale * rarity;
}

// The moments of a product of two normals are 1 / sqrt(1 - t^2).
double largest_of_sums(std::int64_t products, std::int64_t count) {
  const auto k = static_cast<double>(products);
  return std::min(gathered_bound(k, 1, rarity_of(count)), k * kLargestInput * kLargestInput);
}

// Returns the standard deviation of a rounding error, relative to the sum. The error is uniform and at most
// half a unit in the last place, and a unit is at most epsilon times the sum.
double f32_rounding() {
  return std::numeric_limits<float>::epsilon() / std::sqrt(12.0);
}

// In f32 there are two more roundings than partial sums: of products that are not fused into the sum
// (together they count for less than one of the whole sum), and of the expected value. Each of these adds the
// losses of its arithmetic, to a product or, for 8-bit floats, to a sum:
// - tf32: two operands rounded by up to 2^-11 of their size, uniformly;
// - 3xtf32: the rests of the operands are below 2^-22 of them, and the product of the two rests is left out
//   (2^-22 too): together below 2^-20, with a deviation below 2^-21;
// - 16-bit floats and tf32, whose sums may stay in a tensor core: the drift.
// Processors that multiply bf16 in pairs (vdpbf16ps) add one product and then the other to the sum, each
// rounded as by a fused multiply-add: the chain above. They take denormals for zero, which does not matter
// here: inputs are multiples of 2^-23 (the least one, sqrt(3) / 2^16, has 8 bits), so products and sums are
// multiples of 2^-46. The rounding to a 16-bit C is not included: measure/core/check.h allows half a unit of
// each value.
double tolerance_of_sums(const ProductSums& s, std::int64_t count) {
  if (s.accum == DType::kS32) return 0;
  const double k = static_cast<double>(s.products);
  const double rarity = rarity_of(count);
  double tolerance = f32_rounding() * rounding_bound(k + 2, rarity);
  if (s.math == Math::kTf32) tolerance += gathered_bound(k * 0x1p-22 * 2 / 3, 0x1p-10, rarity);
  if (s.math == Math::k3xTf32) tolerance += gathered_bound(k * 0x1p-42, 0x1p-20, rarity);
  if (is_8_bit_float(s.operand)) tolerance += loss_of_8_bit_floats(s, rarity);
  if (drifts_in_tensor_core(s)) tolerance += drift_in_tensor_core(s, rarity);
  return tolerance;
}

}  // namespace lehr
