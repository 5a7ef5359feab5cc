// Tests of the ratio of two kernels by their rounds, when a neighbour on the same core comes and goes.
#include "measure/core/ratio.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"

namespace lehr {
namespace {

ContestEntry entry(std::vector<double> round_us, double calm_within = 1.05) {
  ContestEntry result;
  result.round_us = std::move(round_us);
  result.calm_within = calm_within;
  return result;
}

TEST(CalmRounds, AreThoseNearTheBestOnesButAtLeastFive) {
  EXPECT_EQ(calm_us(entry({100, 140, 101, 104, 150, 99, 100, 135, 98})),
            (std::vector<double>{98, 99, 100, 100, 101}));
  EXPECT_EQ(calm_us(entry({100, 200, 300, 400, 500, 600})), (std::vector<double>{100, 200, 300, 400, 500}));
  EXPECT_EQ(calm_us(entry({100, 200, 300}, 0)), (std::vector<double>{100, 200, 300}));
  std::vector<double> seldom_calm(100);
  for (std::size_t r = 0; r < seldom_calm.size(); ++r) seldom_calm[r] = std::pow(1.005, r);
  EXPECT_EQ(calm_us(entry(seldom_calm)).size(), 15u);
  EXPECT_TRUE(calm_us(entry({})).empty());
}

// Times as measured on two hardware threads of one core: alone 547 and 648 us, beside a busy neighbour 1133
// and 865.
TEST(Speedup, IsThatOfTheCalmRoundsWhateverTheNeighbourDid) {
  for (const double busy_share : {0.2, 0.7}) {
    const std::uint64_t seed = 7;
    SCOPED_TRACE(fmt::format("busy {} seed {}", busy_share, seed));
    Rng rng(seed);
    std::vector<double> fast, slow;
    for (int part = 0; part < 20; ++part) {
      const bool busy = part % 10 < 10 * busy_share;
      for (int spell = 0; spell < 10; ++spell) {
        const auto noise = [&] { return 1 + 0.02 * rng.uniform() * rng.uniform(); };
        fast.push_back((busy ? 1133 : 547) * noise());
        slow.push_back((busy ? 865 : 648) * noise());
      }
    }
    const Ratio calm = speedup_over(entry(fast), entry(slow));
    EXPECT_NEAR(calm.value, 648.0 / 547, 0.01);
    EXPECT_LE(calm.interval.low, calm.value);
    EXPECT_GE(calm.interval.high, calm.value);
    EXPECT_LT(calm.interval.high - calm.interval.low, 0.03);
    const bool neighbour_decides = busy_share > 0.5;
    EXPECT_EQ(speedup_over(entry(fast, 0), entry(slow, 0)).value < 1, neighbour_decides);
  }
}

TEST(Speedup, ComparesRoundsThatBothWereIn) {
  const ContestEntry dropped = entry({50, 50, 50}), base = entry({100, 100, 100, 70, 70, 70, 70});
  EXPECT_DOUBLE_EQ(speedup_over(dropped, base).value, 2);
  EXPECT_EQ(speedup_over(entry({}), base).value, 0);
}

}  // namespace
}  // namespace lehr
