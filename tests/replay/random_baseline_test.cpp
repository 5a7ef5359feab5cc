// Tests of the closed forms against what draws really do.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "replay/random_baseline.h"
#include "tests/replay/support.h"

namespace lehr::testing {
namespace {

// Returns the best time of the rows in `subset`; the slowest of all where they all failed.
double best_of(const Table& table, unsigned subset, double slowest) {
  double best = slowest;
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    if (subset >> i & 1) best = std::min(best, table.rows[i].time_us.value_or(slowest));
  return best;
}

TEST(RandomBaseline, AgreesWithEverySubsetOfASmallTable) {
  const Table table = table_of({7, 0, 3, 9, 3, 0, 12, 5, 4, 0, 8});
  const RandomBaseline random(table);
  for (int n = 1; n <= 11; ++n) {
    std::vector<double> bests;
    for (unsigned subset = 0; subset < 1u << 11; ++subset)
      if (std::popcount(subset) == n) bests.push_back(best_of(table, subset, 12));
    double mean = 0;
    for (const double best : bests) mean += best / static_cast<double>(bests.size());
    EXPECT_NEAR(random.expected_us(static_cast<std::size_t>(n)), mean, 1e-9) << n;
    for (const double chance : {0.1, 0.5, 0.9}) {
      const double us = random.quantile_us(static_cast<std::size_t>(n), chance);
      const auto share = [&](double limit) {
        return static_cast<double>(std::ranges::count_if(bests, [&](double best) { return best <= limit; })) /
               static_cast<double>(bests.size());
      };
      EXPECT_GE(share(us) + 1e-12, us == 12 ? 0 : chance) << n;
      EXPECT_LT(share(us - 0.5), chance) << n;
    }
  }
}

TEST(RandomBaseline, CountsDrawsToALevel) {
  const RandomBaseline random(table_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  // P(the fastest is among n of 10) = n / 10.
  EXPECT_EQ(random.draws_to(1, 0.5), 5u);
  EXPECT_EQ(random.draws_to(1, 0.95), 10u);
  // P(one of the two fastest) = 1 - (8/10)(7/9) = 0.378 after 2 and 0.533 after 3.
  EXPECT_EQ(random.draws_to(2.5, 0.5), 3u);
  EXPECT_EQ(random.draws_to(0.5, 0.5), 0u);
}

TEST(RandomBaseline, KnowsTheEndsOfALargeTable) {
  std::vector<double> times;
  for (int i = 1; i <= 20000; ++i) times.push_back(i);
  const RandomBaseline random(table_of(times));
  EXPECT_DOUBLE_EQ(random.expected_us(0), 20000);
  EXPECT_NEAR(random.expected_us(1), 10000.5, 1e-3);
  // The expected minimum of n draws from 1..N without replacement is (N + 1) / (n + 1).
  EXPECT_NEAR(random.expected_us(255), 20001.0 / 256, 1e-4);
  EXPECT_NEAR(random.expected_us(20000), 1, 1e-9);
  EXPECT_NEAR(random.expected_us(30000), 1, 1e-9);
}

}  // namespace
}  // namespace lehr::testing
