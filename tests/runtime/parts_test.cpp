// What rows are put together from, against every way of doing it and against what was done before.
#include "runtime/parts.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "base/rng.h"
#include "tests/support/seed.h"

namespace lehr::runtime {
namespace {

Array<PartSize> array_of(const std::vector<PartSize>& sizes) {
  Array<PartSize> array;
  for (const PartSize& size : sizes) EXPECT_TRUE(array.add(size));
  return array;
}

/// By what the first 0, 1, ... `rows` take.
double least_time(const std::vector<PartSize>& sizes, std::uint64_t rows) {
  std::vector<double> least(rows + 1, std::numeric_limits<double>::infinity());
  least[0] = 0;
  for (std::uint64_t i = 1; i <= rows; ++i)
    for (const PartSize& size : sizes)
      least[i] = std::min(least[i], size.us + least[i > size.rows ? i - size.rows : 0]);
  return least[rows];
}

/// Always the size with the least time a row that still fits, as it was until interface version 3.
double greedy_time(const std::vector<PartSize>& sizes, std::uint64_t rows) {
  double us = 0;
  while (rows > 0) {
    const PartSize* best = nullptr;
    for (const PartSize& size : sizes)
      if (size.rows <= rows && (best == nullptr || size.us / static_cast<double>(size.rows) <
                                                       best->us / static_cast<double>(best->rows)))
        best = &size;
    if (best == nullptr) return std::numeric_limits<double>::infinity();
    us += static_cast<double>(rows / best->rows) * best->us;
    rows %= best->rows;
  }
  return us;
}

/// Their time, once they cover exactly `rows` but for a last one that overlaps those before it.
double time_of_cover(const std::vector<PartSize>& sizes, const Array<PartCalls>& calls, std::uint64_t rows) {
  std::uint64_t covered = 0, last = 0;
  double us = 0;
  for (const PartCalls& some : calls) {
    EXPECT_GE(some.count, 1u);
    last = sizes[some.size].rows;
    covered += some.count * last;
    us += static_cast<double>(some.count) * sizes[some.size].us;
  }
  EXPECT_GE(covered, rows);
  EXPECT_LT(covered - last, rows) << "the last call is one too many";
  EXPECT_LE(last, rows);
  return us;
}

std::vector<PartSize> some_sizes(Rng& rng, std::uint64_t rows) {
  std::vector<PartSize> sizes;
  const std::uint64_t most = rng.below(2) == 0 ? 64 : 2048, kinds = rng.below(3);
  const double call_us = rng.below(2) == 0 ? 0.1 : 2.5;
  for (std::uint64_t i = 0, count = 1 + rng.below(20); i < count; ++i) {
    std::uint64_t size = 1 + rng.below(most);
    if (kinds > 0) size = std::uint64_t{1} << rng.below(most == 64 ? 7 : 12);
    if (kinds > 1 && rng.below(2) == 0) size += size / 2;
    // Kernels compute whole tiles, and no two are equally good.
    const double tiles = std::ceil(static_cast<double>(size) / 8);
    if (size <= rows) sizes.push_back({size, call_us + tiles * (0.95 + 0.1 * rng.uniform())});
  }
  return sizes;
}

TEST(Parts, AreTheFastestOfAllThatCoverTheRows) {
  const std::uint64_t seed = lehr::testing::test_seed(1);
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t rows = 1 + rng.below(rng.below(2) == 0 ? 100 : 5000);
    const std::vector<PartSize> sizes = some_sizes(rng, rows);
    Array<PartCalls> calls;
    const double us = cheapest_calls(array_of(sizes), rows, calls);
    if (sizes.empty()) {
      EXPECT_TRUE(std::isinf(us));
      continue;
    }
    EXPECT_NEAR(us, time_of_cover(sizes, calls, rows), 1e-9 * us);
    EXPECT_NEAR(us, least_time(sizes, rows), 1e-6 * us) << rows << " rows of " << sizes.size() << " sizes";
    EXPECT_LE(us, greedy_time(sizes, rows) * (1 + 1e-9));
    if (HasFailure()) return;
  }
}

// Work follows the sizes: neither two billion rows nor four thousand sizes take long.
TEST(Parts, AreFoundOfManySizesForAnyNumberOfRows) {
  const std::uint64_t seed = lehr::testing::test_seed(1);
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  const auto start = std::chrono::steady_clock::now();
  for (const std::uint64_t count : {1u, 2u, 12u, 100u, 4096u}) {
    for (int i = 0; i < 20; ++i) {
      const std::uint64_t rows = (std::uint64_t{1} << 31) - rng.below(1u << 20);
      std::vector<PartSize> sizes;
      while (sizes.size() < count) {
        const std::uint64_t size = 1 + rng.below(1u << (1 + rng.below(30)));
        sizes.push_back({size, 0.1 + static_cast<double>(size) * (i % 2 == 0 ? 1 : 0.9 + rng.uniform())});
      }
      Array<PartCalls> calls;
      const double us = cheapest_calls(array_of(sizes), rows, calls);
      EXPECT_NEAR(us, time_of_cover(sizes, calls, rows), 1e-9 * us);
      EXPECT_LE(us, greedy_time(sizes, rows) * (1 + 1e-9)) << count;
    }
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST(Parts, OfSixteenAndOneAreTwoCallsForTwentyFour) {
  Array<PartCalls> calls;
  EXPECT_DOUBLE_EQ(cheapest_calls(array_of({{1, 5.5}, {16, 10}}), 24, calls), 20);
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].size, 1u);
  EXPECT_EQ(calls[0].count, 2u);
  Array<PartCalls> none;
  EXPECT_TRUE(std::isinf(cheapest_calls({}, 24, none)));
  EXPECT_EQ(none.size(), 0u);
}

}  // namespace
}  // namespace lehr::runtime
