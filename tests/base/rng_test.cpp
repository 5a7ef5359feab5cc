// The seeded generator: the same numbers everywhere, and evenly spread ones.
#include "base/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "base/error.h"

namespace lehr {
namespace {

// Computed by an independent implementation of xoshiro256** 1.0 with a splitmix64-filled state; the first
// splitmix64 outputs for seed 0 are the published e220a8397b1dcdaf, 6e789e6aa1b965f4, ...
TEST(Rng, GivesTheKnownNumbersOfItsAlgorithm) {
  const auto check = [](std::uint64_t seed, std::array<std::uint64_t, 4> expected) {
    Rng rng(seed);
    for (const std::uint64_t number : expected) EXPECT_EQ(rng.next(), number) << "seed " << seed;
  };
  check(0, {0x99ec5f36cb75f2b4ULL, 0xbf6e1f784956452aULL, 0x1a5f849d4933e6e0ULL, 0x6aa594f1262d2d2cULL});
  check(42, {0x15780b2e0c2ec716ULL, 0x6104d9866d113a7eULL, 0xae17533239e499a1ULL, 0xecb8ad4703b360a1ULL});
}

TEST(Rng, StaysBelowItsBoundAndReachesEveryValueEquallyOften) {
  const std::uint64_t seed = 3;
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  for (const std::uint64_t bound : {1u, 2u, 3u, 7u, 10u, 64u}) {
    std::vector<int> count(bound);
    const int draws = 20000;
    for (int i = 0; i < draws; ++i) {
      const std::uint64_t x = rng.below(bound);
      ASSERT_LT(x, bound);
      ++count[x];
    }
    // Chi squared; its 99.99 % quantile lies under (bound - 1) + 6 sqrt(2 bound) for each of these.
    const double expected = static_cast<double>(draws) / static_cast<double>(bound);
    double chi2 = 0;
    for (const int n : count) chi2 += (n - expected) * (n - expected) / expected;
    EXPECT_LT(chi2, static_cast<double>(bound - 1) + 6 * std::sqrt(2.0 * static_cast<double>(bound)))
        << bound;
  }
}

TEST(Rng, HasNoModuloBiasForHugeBounds) {
  // With the bound 3 * 2^62 a plain modulo would give the lowest third twice as often as the others.
  Rng rng(8);
  const std::uint64_t third = std::uint64_t{1} << 62;
  std::array<int, 3> count = {};
  for (int i = 0; i < 30000; ++i) ++count[rng.below(3 * third) / third];
  for (const int n : count) EXPECT_NEAR(n, 10000, 400);
}

TEST(Rng, RefusesAnEmptyRange) {
  Rng rng(1);
  EXPECT_THROW(rng.below(0), Error);
}

TEST(Rng, SpreadsUniformOverTheUnitInterval) {
  Rng rng(17);
  double sum = 0, squares = 0;
  const int draws = 100000;
  for (int i = 0; i < draws; ++i) {
    const double x = rng.uniform();
    ASSERT_GE(x, 0);
    ASSERT_LT(x, 1);
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / draws, 1.0 / 2, 0.005);
  EXPECT_NEAR(squares / draws, 1.0 / 3, 0.005);
}

TEST(Rng, ShufflesIntoEveryOrderEquallyOften) {
  Rng rng(23);
  std::map<std::vector<int>, int> count;
  for (int i = 0; i < 24000; ++i) {
    std::vector<int> items = {1, 2, 3, 4};
    rng.shuffle(items);
    ++count[items];
  }
  ASSERT_EQ(count.size(), 24u);
  for (const auto& [order, n] : count) EXPECT_NEAR(n, 1000, 160);
}

TEST(Rng, ForksIntoStreamsThatDependOnTheRoleAndLeaveTheParentAlone) {
  Rng rng(5), untouched(5);
  Rng search = rng.fork("search"), again = rng.fork("search"), model = rng.fork("model");
  EXPECT_EQ(rng.next(), untouched.next());
  const std::uint64_t first = search.next();
  EXPECT_EQ(first, again.next());
  EXPECT_NE(first, model.next());
  EXPECT_NE(first, Rng(6).fork("search").next());
}

}  // namespace
}  // namespace lehr
