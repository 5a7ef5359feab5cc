// The tolerance against what arithmetic loses, in several orders of summation and over millions of elements.
//
// Odds of one in a million can't be observed, but their tail can: the derivation says that an element's error
// exceeds rounding_bound(k, rarity) with probability exp(-rarity) at most, at every rarity, and that the true
// probability falls ever further behind. So of N elements at most n should exceed the bound of rarity
// ln(N / n), which is tested for n = 1, 10, 100 and 1000. The bound of rarity ln(1e6 N) differs from those by
// nothing but its place on the same line.
#include "workload/tolerance.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/make_reference.h"

namespace lehr {
namespace {

constexpr std::uint64_t kSeed = 1018;

/// A product of row-major f32 matrices with its inputs.
struct Product {
  Workload workload;
  std::vector<std::vector<float>> inputs;
  Reference reference;

  explicit Product(const std::string& text)
      : workload(parse_workload(text)),
        inputs(make_inputs(workload, kSeed)),
        reference(make_reference(workload, inputs, 1e12)) {}

  const Gemm& gemm() const { return workload.gemm(); }
  double count() const { return static_cast<double>(reference.values.size()); }
  float a(std::int64_t i, std::int64_t p) const {
    return inputs[0][static_cast<std::size_t>(i * gemm().k + p)];
  }
  const float* b(std::int64_t p) const { return inputs[1].data() + p * gemm().n; }

  /// Returns |sum - expected| of every element. `row(i, sums)` adds the sums of row i to zeros.
  std::vector<double> errors(const std::function<void(std::int64_t, std::vector<float>&)>& row) const {
    std::vector<double> found;
    for (std::int64_t i = 0; i < gemm().m; ++i) {
      std::vector<float> sums(static_cast<std::size_t>(gemm().n), 0);
      row(i, sums);
      for (std::size_t j = 0; j < sums.size(); ++j)
        found.push_back(std::abs(static_cast<double>(sums[j]) -
                                 reference.values[static_cast<std::size_t>(i) * sums.size() + j]));
    }
    return found;
  }

  /// Adds the products `first`, `first + step`, ... of row i, `count` of them, to its sums one by one.
  void add(std::int64_t i, std::int64_t first, std::int64_t step, std::int64_t count,
           std::vector<float>& sums) const {
    const std::int64_t n = gemm().n;
    for (std::int64_t at = 0, p = first; at < count; ++at, p += step) {
      const float x = a(i, p);
      const float* line = b(p);
      float* to = sums.data();
      for (std::int64_t j = 0; j < n; ++j) to[j] += x * line[j];
    }
  }

  /// Sums in `parts` interleaved or contiguous parts, which are then added up.
  void add_parts(std::int64_t i, std::int64_t parts, bool interleaved, std::vector<float>& sums) const {
    const std::int64_t k = gemm().k, size = (k + parts - 1) / parts;
    for (std::int64_t part = 0; part < parts; ++part) {
      std::vector<float> some(sums.size(), 0);
      if (interleaved)
        add(i, part, parts, (k - part + parts - 1) / parts, some);
      else
        add(i, part * size, 1, std::clamp<std::int64_t>(k - part * size, 0, size), some);
      for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += some[j];
    }
  }
};

double worst_of(const std::vector<double>& errors) {
  return *std::ranges::max_element(errors);
}

/// Returns the expected largest error among a million times as many checks. Tails are exponential here: the
/// errors of probability 1 / N grow like ln(N). With shorter tails it is less.
double of_a_million_checks(double worst, double count) {
  return worst * std::log(count * 1e6) / std::log(count);
}

TEST(Tolerance, HoldsInEveryOrderOfSummationAndLeavesOddsOfOneInAMillion) {
  for (const auto& [m, n, k] : {std::array<int, 3>{300, 300, 1},
                                {500, 500, 2},
                                {500, 500, 8},
                                {1000, 1000, 27},
                                {200, 200, 144},
                                {150, 150, 432},
                                {80, 80, 1024},
                                {32, 32, 8192}}) {
    const Product product(fmt::format("gemm m={} n={} k={}", m, n, k));
    using Row = std::function<void(std::int64_t, std::vector<float>&)>;
    const std::pair<const char*, Row> orders[] = {
        {"first to last", [&](auto i, auto& sums) { product.add(i, 0, 1, k, sums); }},
        {"last to first", [&](auto i, auto& sums) { product.add(i, k - 1, -1, k, sums); }},
        {"eight chains", [&](auto i, auto& sums) { product.add_parts(i, 8, true, sums); }},
        {"blocks", [&](auto i, auto& sums) { product.add_parts(i, (k + 31) / 32, false, sums); }}};
    for (const auto& [name, row] : orders) {
      SCOPED_TRACE(fmt::format("m={} n={} k={}, {}, seed {}", m, n, k, name, kSeed));
      const std::vector<double> errors = product.errors(row);
      EXPECT_LE(of_a_million_checks(worst_of(errors), product.count()), product.reference.tolerance);
      for (const double expected : {1, 10, 100, 1000}) {
        const double bound = f32_rounding() * rounding_bound(k + 2, std::log(product.count() / expected));
        EXPECT_LE(std::ranges::count_if(errors, [&](double error) { return error > bound; }), expected);
      }
    }
  }
}

TEST(Tolerance, FindsNearlyEveryMissingProductOfThousands) {
  const Product product("gemm m=64 n=256 k=4096");
  const std::int64_t k = product.gemm().k;
  const double tolerance = product.reference.tolerance;
  int found = 0, missed = 0;
  std::int64_t column = 0;
  for (std::int64_t i = 0; i < product.gemm().m; ++i) {
    std::vector<float> sums(256, 0);
    product.add(i, 0, 1, k, sums);
    for (std::size_t j = 0; j < sums.size(); ++j, ++column) {
      const std::int64_t dropped = column * 31 % k;
      const double missing = static_cast<double>(product.a(i, dropped)) * product.b(dropped)[j];
      const double error =
          std::abs(sums[j] - missing - product.reference.values[static_cast<std::size_t>(column)]);
      (error > tolerance ? found : missed) += 1;
      EXPECT_TRUE(error > tolerance || std::abs(missing) < 1.5 * tolerance) << missing << ", seed " << kSeed;
    }
  }
  EXPECT_LT(tolerance, 0.003);  // of products that are about 1, in sums that are about 64
  EXPECT_GT(found, 65 * missed) << "seed " << kSeed;
}

TEST(Tolerance, GrowsWithTheNumberOfElementsThatAreCompared) {
  const Workload workload = parse_workload("gemm m=1000 n=50 k=20");
  const auto inputs = make_inputs(workload, kSeed);
  const Reference all = make_reference(workload, inputs);
  const Reference some = make_reference(workload, inputs, flops_of(workload) / 20);
  ASSERT_LT(some.values.size() * 10, all.values.size());
  EXPECT_GT(all.tolerance, some.tolerance * 1.05);
  EXPECT_LT(all.tolerance, some.tolerance * 1.5);
}

TEST(Tolerance, BoundsTheSumsThemselves) {
  for (const auto& [m, n, k] :
       {std::array<int, 3>{1000, 1000, 1}, {1000, 1000, 4}, {1000, 1000, 27}, {300, 300, 1000}}) {
    const Product product(fmt::format("gemm m={} n={} k={}", m, n, k));
    const auto above = [&](double bound) {
      return std::ranges::count_if(product.reference.values,
                                   [&](float sum) { return std::abs(sum) > bound; });
    };
    for (const double expected : {1, 10, 100})
      EXPECT_LE(above(gathered_bound(k, 1, std::log(product.count() / expected))), 2 * expected)
          << "k=" << k << ", seed " << kSeed;
    EXPECT_EQ(above(largest_of_sums(k, m * n)), 0);
  }
  EXPECT_EQ(largest_of_sums(1, 1000), kLargestInput * kLargestInput);
}

// One product of a pair is added to the sum, then the other, as vdpbf16ps does it; in four sums side by side,
// too. This bound does not cover the errors of tensor cores.
TEST(Tolerance, OfBf16HoldsForProductsInPairs) {
  for (const auto& [m, n, k] : {std::array<int, 3>{300, 300, 64}, {100, 100, 1024}}) {
    const Product product(fmt::format("gemm m={} n={} k={} a=bf16 b=bf16 c=f32", m, n, k));
    for (const std::int64_t chains : {1, 4}) {
      const std::vector<double> errors = product.errors([&](std::int64_t i, std::vector<float>& sums) {
        for (std::int64_t chain = 0; chain < chains; ++chain) {
          std::vector<float> some(sums.size(), 0);
          for (std::int64_t p = 2 * chain; p < k; p += 2 * chains)
            for (std::size_t j = 0; j < some.size(); ++j)
              for (const std::int64_t at : {p + 1, p})
                some[j] = std::fma(product.a(i, at), product.b(at)[j], some[j]);
          for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += some[j];
        }
      });
      const double bound =
          f32_rounding() * rounding_bound(k + 2, rarity_of(static_cast<std::int64_t>(errors.size())));
      EXPECT_LE(of_a_million_checks(worst_of(errors), product.count()), bound) << k << " " << chains;
      EXPECT_LE(bound, product.reference.tolerance);
    }
  }
}

TEST(Tolerance, OfTf32LeavesOddsOfOneInAMillion) {
  const auto tf32 = [](float x) {  // 10 fraction bits, ties away from zero
    return std::bit_cast<float>((std::bit_cast<std::uint32_t>(x) + 0x1000) & ~0x1FFFU);
  };
  for (const auto& [m, n, k] : {std::array<int, 3>{1000, 1000, 1}, {300, 300, 16}, {60, 60, 1000}}) {
    const Product product(fmt::format("gemm m={} n={} k={} math=tf32", m, n, k));
    const std::vector<double> errors = product.errors([&](std::int64_t i, std::vector<float>& sums) {
      for (std::int64_t p = 0; p < product.gemm().k; ++p)
        for (std::size_t j = 0; j < sums.size(); ++j)
          sums[j] += tf32(product.a(i, p)) * tf32(product.b(p)[j]);
    });
    EXPECT_LE(of_a_million_checks(worst_of(errors), product.count()), product.reference.tolerance)
        << "k=" << k << ", seed " << kSeed;
  }
}

/// Returns the value of fraction bit `bits` of a number.
double unit_of(double number, int bits) {
  return number == 0 ? 1 : std::ldexp(1.0, std::ilogb(number) - bits);
}
double cut(double value, double unit) {
  return std::trunc(value / unit) * unit;
}

/// The way in which a tensor core adds up: so many products at a time, so many fraction bits of the largest
/// of them and the sum, so many of the sum that is left (tests/emulator/tensor_sum.h).
struct Adder {
  std::int64_t together;
  int aligned, kept;
};
constexpr Adder kVolta{4, 23, 23}, kAmpereTf32{4, 24, 23}, kAmpere{8, 24, 23}, kHopper{16, 25, 23},
    kAda8Bit{16, 13, 13}, kHopper8Bit{32, 13, 13};

/// Returns a sum as a tensor core makes it of `count` products from `first` on.
double tensor_core_sum(const Product& product, const Adder& adder, std::int64_t i, std::size_t j,
                       std::int64_t first, std::int64_t count) {
  double sum = 0;
  for (std::int64_t step = first; step < first + count; step += adder.together) {
    const std::int64_t end = std::min(step + adder.together, first + count);
    double largest = std::abs(sum), products[32] = {};
    for (std::int64_t p = step; p < end; ++p) {
      products[p - step] = static_cast<double>(product.a(i, p)) * product.b(p)[j];
      largest = std::max(largest, std::abs(products[p - step]));
    }
    const double unit = unit_of(largest, adder.aligned);
    sum = cut(sum, unit);
    for (std::int64_t p = step; p < end; ++p) sum += cut(products[p - step], unit);
    sum = cut(sum, unit_of(sum, adder.kept));
  }
  return sum;
}

/// Returns the errors of a tensor core that adds up `together` products at a time, while f32 adds the
/// results.
std::vector<double> errors_of(const Product& product, const Adder& adder, std::int64_t together) {
  const std::int64_t k = product.gemm().k;
  return product.errors([&](std::int64_t i, std::vector<float>& sums) {
    for (std::size_t j = 0; j < sums.size(); ++j)
      for (std::int64_t p = 0; p < k; p += together)
        sums[j] += static_cast<float>(tensor_core_sum(product, adder, i, j, p, std::min(together, k - p)));
  });
}

TEST(Tolerance, OfSumsThatATensorCoreCutsOffLeavesOddsOfOneInAMillion) {
  const std::pair<const char*, std::vector<Adder>> types[] = {{"a=f16 b=f16", {kVolta, kAmpere}},
                                                              {"a=bf16 b=bf16", {kAmpere, kHopper}},
                                                              {"math=tf32", {kAmpereTf32}}};
  for (const auto& [type, adders] : types) {
    for (const auto& [m, n, k] :
         {std::array<int, 3>{300, 300, 16}, {100, 100, 100}, {25, 25, 4096}, {16, 16, 8192}}) {
      const Product product(fmt::format("gemm m={} n={} k={} {}", m, n, k, type));
      const Workload f32 = parse_workload(fmt::format("gemm m={} n={} k={}", m, n, k));
      for (const Adder& adder : adders) {
        const double worst = of_a_million_checks(worst_of(errors_of(product, adder, k)), product.count());
        SCOPED_TRACE(
            fmt::format("{}, {} at a time, seed {}", to_text(product.workload), adder.together, kSeed));
        EXPECT_LE(worst, product.reference.tolerance);
        EXPECT_TRUE(k < 4096 || worst > tolerance_for(f32, m * n));  // it is needed
      }
    }
  }
}

TEST(Tolerance, Of8BitFloatsLeavesOddsOfOneInAMillionForBothKindsOfSums) {
  for (const auto& [m, n, k] : {std::array<int, 3>{100, 100, 32},
                                {100, 100, 100},
                                {60, 60, 128},
                                {40, 40, 1000},
                                {25, 25, 4096},
                                {8, 8, 32768}}) {
    for (const bool two_level : {false, true}) {
      const Product product(fmt::format("gemm m={} n={} k={} a=e4m3 b=e4m3 math={}", m, n, k,
                                        two_level ? "two_level" : "strict"));
      for (const Adder& adder : {kAda8Bit, kHopper8Bit}) {
        const std::vector<double> errors = errors_of(product, adder, two_level ? kTwoLevelK : k);
        EXPECT_LE(of_a_million_checks(worst_of(errors), product.count()), product.reference.tolerance)
            << to_text(product.workload) << ", " << adder.together << " at a time, seed " << kSeed;
      }
    }
  }
}

}  // namespace
}  // namespace lehr
