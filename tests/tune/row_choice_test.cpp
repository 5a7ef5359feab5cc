// Tests of the choice of few kernels for a range of rows, held against every other choice, and of which
// kernel serves which rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/rng.h"
#include "tune/row_choice.h"

namespace lehr::testing {
namespace {

using ::testing::ElementsAre;

/// Returns times of kernels of a tile each. They take a tile's time for every tile begun, and some more for
/// each tile's rows: small tiles waste nothing, large ones are faster where they are full.
RowTimes tiled(Rng& rng, std::size_t kernels, const std::vector<std::int64_t>& sizes, double missing) {
  RowTimes times = {.sizes = sizes, .us = {}};
  for (std::size_t kernel = 0; kernel < kernels; ++kernel) {
    const auto tile = static_cast<std::int64_t>(1 + rng.below(40));
    const double speed = 1 + 4 * rng.uniform(), start = 20 * rng.uniform();
    times.us.emplace_back();
    for (const std::int64_t rows : sizes) {
      const auto begun = static_cast<double>((rows + tile - 1) / tile * tile);
      times.us.back().push_back(rng.uniform() < missing ? kNeverUs : start + begun / speed);
    }
  }
  return times;
}

/// Returns unserved sizes, worst loss and mean loss of some kernels, by the definition once more.
std::tuple<std::size_t, double, double> loss_of(const RowTimes& times,
                                                const std::vector<std::size_t>& kernels) {
  std::size_t unserved = 0, served = 0;
  double worst = 0, sum = 0;
  for (std::size_t size = 0; size < times.sizes.size(); ++size) {
    double best = kNeverUs, us = kNeverUs;
    for (const std::vector<double>& each : times.us) best = std::min(best, each[size]);
    for (const std::size_t kernel : kernels) us = std::min(us, times.us[kernel][size]);
    if (best == kNeverUs) continue;
    if (us == kNeverUs) {
      ++unserved;
      continue;
    }
    ++served;
    sum += us / best - 1;
    worst = std::max(worst, us / best - 1);
  }
  return {unserved, worst, served > 0 ? sum / static_cast<double>(served) : 0};
}

/// Returns the least loss that any `most` kernels have.
std::tuple<std::size_t, double, double> least_loss(const RowTimes& times, std::size_t most) {
  std::tuple<std::size_t, double, double> least = {times.sizes.size() + 1, 0, 0};
  for (std::size_t set = 1; set < std::size_t{1} << times.us.size(); ++set) {
    std::vector<std::size_t> kernels;
    for (std::size_t kernel = 0; kernel < times.us.size(); ++kernel)
      if ((set >> kernel & 1) != 0) kernels.push_back(kernel);
    if (kernels.size() <= most) least = std::min(least, loss_of(times, kernels));
  }
  return least;
}

/// Chooses where layouts do not matter.
ChosenRows choose_any(const RowTimes& times, std::size_t most) {
  return choose_rows(times, std::vector<std::string>(times.us.size()), most);
}

TEST(RowChoice, IsAsGoodAsTheBestOfAllOrNearlySo) {
  const std::vector<std::int64_t> sizes = measured_sizes(1, 100);
  int best_of_all = 0;
  constexpr int kDraws = 300;
  for (int seed = 0; seed < kDraws; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(static_cast<std::uint64_t>(seed));
    const RowTimes times = tiled(rng, 2 + rng.below(9), sizes, seed % 3 == 0 ? 0.3 : 0);
    const std::size_t most = 1 + rng.below(4);
    const ChosenRows chosen = choose_any(times, most);
    ASSERT_LE(chosen.kernels.size(), most);
    ASSERT_TRUE(std::ranges::is_sorted(chosen.kernels));
    const auto [unserved, worst, mean] = loss_of(times, chosen.kernels);
    EXPECT_EQ(chosen.unserved, unserved);
    EXPECT_NEAR(chosen.worst, worst, 1e-12);
    EXPECT_NEAR(chosen.mean, mean, 1e-12);
    const auto [least_unserved, least_worst, least_mean] = least_loss(times, most);
    if (unserved == least_unserved && worst < least_worst + 1e-9) ++best_of_all;
    if (least_unserved == 0 && seed % 3 != 0) {
      EXPECT_EQ(unserved, 0u);
      EXPECT_LE(worst, 1.25 * least_worst + 0.02);
    }
  }
  EXPECT_GE(best_of_all, kDraws * 95 / 100);
}

TEST(RowChoice, HasNoKernelThatEarnsNothing) {
  for (int seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(static_cast<std::uint64_t>(seed));
    const RowTimes times = tiled(rng, 8, measured_sizes(1, 64), 0);
    const ChosenRows chosen = choose_any(times, 6);
    for (const std::size_t kernel : chosen.kernels) {
      std::vector<std::size_t> others = chosen.kernels;
      std::erase(others, kernel);
      if (others.empty()) continue;
      const auto [unserved, worst, mean] = loss_of(times, others);
      EXPECT_TRUE(unserved > 0 || worst > chosen.worst || mean > chosen.mean + kLeastEarned / 6);
    }
  }
  RowTimes twins = {.sizes = {1, 2, 3}, .us = {{1, 2, 3}, {1, 2, 3}, {1, 2, 3.001}}};
  EXPECT_EQ(choose_any(twins, 6).kernels.size(), 1u);
}

// Each of two kernels alone loses a third of the speed somewhere. A choice one after the other takes first
// the kernel in between, which the two make useless.
TEST(RowChoice, ExchangesWhatWasTakenFirst) {
  const RowTimes times = {.sizes = {1, 8, 64}, .us = {{13, 13, 13}, {10, 10, 16}, {16, 10, 10}}};
  EXPECT_THAT(choose_any(times, 1).kernels, ElementsAre(0));
  EXPECT_THAT(choose_any(times, 2).kernels, ElementsAre(1, 2));
}

TEST(RowChoice, ServesFirstAndIsFastThen) {
  const RowTimes times = {.sizes = {1, 2, 3}, .us = {{1, 1, kNeverUs}, {9, 9, 9}, {kNeverUs, kNeverUs, 1}}};
  const ChosenRows one = choose_any(times, 1);
  EXPECT_THAT(one.kernels, ElementsAre(1));
  EXPECT_EQ(one.unserved, 0u);
  EXPECT_THAT(choose_any(times, 2).kernels, ElementsAre(0, 2));
}

// There are kernels of two layouts, and two that need no layout: the best four would be one of each.
TEST(RowChoice, IsOfOneLayoutAndOfWhatNeedsNoneWhereThatPays) {
  const RowTimes times = {
      .sizes = {1, 8, 64},
      .us = {{20, 10, 20}, {20, 20, 10}, {20, 10.2, 30}, {20, 21, 10.1}, {10, 40, 40}, {19.5, 9.8, 40}}};
  const std::vector<std::string> layouts = {"a", "b", "b", "b", "", ""};
  const ChosenRows chosen = choose_rows(times, layouts, 6);
  EXPECT_THAT(chosen.kernels, ElementsAre(1, 2, 4)) << "9.8 is not enough for keeping it twice";
  EXPECT_NEAR(chosen.worst, 10.2 / 9.8 - 1, 1e-12) << "of the best of all";
  EXPECT_EQ(chosen.unserved, 0u);
  const RowTimes within = times_in(times, layouts, "b");
  EXPECT_EQ(within.us[0][1], kNeverUs);
  EXPECT_EQ(within.us[4][0], 10);
  EXPECT_EQ(within.us[4][1], kNeverUs);
  EXPECT_EQ(within.us[5][1], kNeverUs);
}

TEST(RowChoice, LosesNoMoreInOneLayoutThanAnyOtherSetInOne) {
  for (int seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(static_cast<std::uint64_t>(seed));
    const RowTimes times = tiled(rng, 7, measured_sizes(1, 100), 0);
    std::vector<std::string> layouts;
    for (std::size_t kernel = 0; kernel < times.us.size(); ++kernel)
      layouts.emplace_back(rng.below(2) == 0 ? "a" : "b");
    const ChosenRows chosen = choose_rows(times, layouts, 3);
    for (const std::size_t kernel : chosen.kernels) EXPECT_EQ(layouts[kernel], layouts[chosen.kernels[0]]);
    const auto [unserved, worst, mean] = loss_of(times, chosen.kernels);
    EXPECT_EQ(unserved, 0u);
    EXPECT_NEAR(chosen.worst, worst, 1e-12);
    double least = 1e9;
    for (std::size_t set = 1; set < std::size_t{1} << times.us.size(); ++set) {
      std::vector<std::size_t> kernels;
      std::set<std::string> used;
      for (std::size_t kernel = 0; kernel < times.us.size(); ++kernel)
        if ((set >> kernel & 1) != 0) {
          kernels.push_back(kernel);
          used.insert(layouts[kernel]);
        }
      if (kernels.size() <= 3 && used.size() == 1)
        least = std::min(least, std::get<1>(loss_of(times, kernels)));
    }
    EXPECT_LE(worst, 1.25 * least + 0.02);
  }
}

// A kernel of tiles of 16 is the best at 16, and the worst at 17.
TEST(RowStretches, BeginBehindAMeasuredSize) {
  const RowTimes times = {.sizes = {1, 16, 24, 32}, .us = {{10, 10, 20, 20}, {9, 12, 15, 21}}};
  EXPECT_THAT(stretches_of(times, {0, 1}),
              ElementsAre(RowStretch{1, 1}, RowStretch{0, 16}, RowStretch{1, 24}, RowStretch{0, 32}));
  EXPECT_THAT(stretches_of(times, {1}), ElementsAre(RowStretch{1, 32}));
  const RowTimes equal = {.sizes = {1, 2, 4}, .us = {{2, 1, 1}, {1, 1, 1}}};
  EXPECT_THAT(stretches_of(equal, {0, 1}), ElementsAre(RowStretch{1, 4}))
      << "no border where there is no reason";
}

TEST(RowStretches, LoseNoMoreAnywhereThanAtTheNextMeasuredSize) {
  for (int seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    std::vector<std::int64_t> all(100);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i) + 1;
    Rng rng(static_cast<std::uint64_t>(seed)), again(static_cast<std::uint64_t>(seed));
    const RowTimes everywhere = tiled(rng, 6, all, 0);
    RowTimes times = {.sizes = measured_sizes(1, 100), .us = {}};
    for (const std::vector<double>& us : everywhere.us) {
      times.us.emplace_back();
      for (const std::int64_t rows : times.sizes)
        times.us.back().push_back(us[static_cast<std::size_t>(rows - 1)]);
    }
    const std::vector<std::size_t> chosen = choose_any(times, 3).kernels;
    const std::vector<RowStretch> stretches = stretches_of(times, chosen);
    for (const std::int64_t rows : all) {
      const std::size_t kernel = std::ranges::lower_bound(stretches, rows, {}, &RowStretch::to)->kernel;
      const auto size =
          static_cast<std::size_t>(std::ranges::lower_bound(times.sizes, rows) - times.sizes.begin());
      double least = kNeverUs;
      for (const std::size_t each : chosen) least = std::min(least, times.us[each][size]);
      EXPECT_LE(everywhere.us[kernel][static_cast<std::size_t>(rows - 1)], least);
    }
  }
}

TEST(RowSizes, ArePowersOfTwoAndHalfAsMuchAgainAndTheEnds) {
  EXPECT_THAT(measured_sizes(1, 16), ElementsAre(1, 2, 3, 4, 6, 8, 12, 16));
  EXPECT_THAT(measured_sizes(5, 50), ElementsAre(5, 6, 8, 12, 16, 24, 32, 48, 50));
  EXPECT_THAT(measured_sizes(7, 7), ElementsAre(7));
  EXPECT_EQ(measured_sizes(1, 2048).size(), 22u);
  EXPECT_THAT(sizes_between({1, 2, 3, 4, 6, 8, 12, 16}), ElementsAre(5, 7, 10, 14));
}

TEST(RowSizes, ThatAreHeldOutAreNoneThatWereMeasured) {
  const std::vector<std::int64_t> measured = measured_sizes(1, 2048);
  for (int seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(static_cast<std::uint64_t>(seed));
    const std::vector<std::int64_t> sizes = held_out_sizes(1, 2048, measured, 20, rng);
    EXPECT_EQ(sizes.size(), 20u);
    EXPECT_TRUE(std::ranges::is_sorted(sizes));
    EXPECT_EQ(std::ranges::adjacent_find(sizes), sizes.end());
    EXPECT_GT(std::ranges::count_if(sizes, [](std::int64_t rows) { return rows < 256; }), 3)
        << "not all are large";
    for (const std::int64_t rows : sizes) {
      EXPECT_TRUE(rows >= 1 && rows <= 2048);
      EXPECT_EQ(std::ranges::count(measured, rows), 0);
    }
  }
  Rng rng(1);
  EXPECT_THAT(held_out_sizes(1, 8, measured_sizes(1, 8), 20, rng), ElementsAre(5, 7)) << "there are no more";
  EXPECT_THAT(held_out_sizes(3, 4, measured_sizes(3, 4), 20, rng), ElementsAre());
}

}  // namespace
}  // namespace lehr::testing
