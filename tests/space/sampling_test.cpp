// Tests of sampling: uniform, valid, deterministic, and of a cost that does not follow the size of the
// product.
#include <gtest/gtest.h>

#include <cmath>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "space/space.h"
#include "tests/space/spaces.h"

namespace lehr {
namespace {

using Counts = std::unordered_map<Point, int, PointHash>;

// Returns by how many standard deviations the chi-square statistic of `counts` over `valid` exceeds its mean.
double chi_square_excess(const Counts& counts, const std::vector<Point>& valid, int draws) {
  const double expected = static_cast<double>(draws) / static_cast<double>(valid.size());
  double statistic = 0;
  for (const Point& point : valid) {
    const auto found = counts.find(point);
    const double count = found == counts.end() ? 0 : found->second;
    statistic += (count - expected) * (count - expected) / expected;
  }
  const double freedom = static_cast<double>(valid.size()) - 1;
  return (statistic - freedom) / std::sqrt(2 * freedom);
}

// Samples as sample() must not: each knob is uniform over what its prefix allows.
std::optional<Point> prefix_sample(const FamilySpace& family, Rng& rng) {
  Point point;
  for (std::size_t i = 0; i < family.knobs().size(); ++i) {
    const auto choices = family.choices(point, i);
    if (choices.empty()) return std::nullopt;
    point.knobs[i] = choices[rng.below(choices.size())];
    if (!family.allows(point, i)) return std::nullopt;
  }
  return point;
}

TEST(SpaceSampling, IsUniformOverTheValidConfigsOfAFamily) {
  const auto valid = testing::brute_force(testing::small_space());
  ASSERT_GT(valid.size(), 50U);
  const int draws = 400 * static_cast<int>(valid.size());
  for (const std::size_t prefixes : {0, 4, 20, 50, 1000}) {
    FamilySpace family = testing::small_family();
    if (prefixes != 0) family.list_prefixes(prefixes);
    const std::uint64_t seed = 1 + prefixes;
    Rng rng(seed);
    Counts uniform;
    Counts by_prefix;
    for (int i = 0; i < draws; ++i) ++uniform[family.sample(rng).value()];
    for (int i = 0; i < draws;) {
      if (const auto point = prefix_sample(family, rng)) {
        ++by_prefix[*point];
        ++i;
      }
    }
    EXPECT_EQ(uniform.size(), valid.size()) << prefixes << " prefixes";
    EXPECT_LT(std::abs(chi_square_excess(uniform, valid, draws)), 4) << prefixes << " prefixes";
    EXPECT_GT(chi_square_excess(by_prefix, valid, draws), 100) << "the test cannot tell";
  }
}

TEST(SpaceSampling, RejectsFewerDrawsTheLongerThePrefixesThatAreListed) {
  const auto valid = static_cast<double>(testing::brute_force(testing::small_space()).size());
  double before = testing::small_family().product_size();
  for (const std::size_t prefixes : {20, 50, 1000}) {
    FamilySpace family = testing::small_family();
    family.list_prefixes(prefixes);
    EXPECT_LT(family.product_size(), before) << prefixes << " prefixes";
    before = family.product_size();
    Rng rng(prefixes);
    constexpr int kDraws = 20'000;
    int taken = 0;
    Point point;
    for (int i = 0; i < kDraws; ++i) taken += family.draw(rng, point) ? 1 : 0;
    EXPECT_NEAR(before * taken / kDraws, valid, 0.05 * valid) << prefixes << " prefixes";
  }
  EXPECT_EQ(before, valid) << "all are listed";
}

TEST(SpaceSampling, ListsPrefixesOfAFamilyWithoutValidConfigs) {
  FamilySpace empty("empty");
  empty.add("a", "", {1, 2});
  empty.forbid("never", [](const Members&) { return true; });
  empty.list_prefixes(10);
  Rng rng(1);
  EXPECT_EQ(empty.sample(rng), std::nullopt);
}

TEST(SpaceSampling, NeverReturnsAnInvalidConfig) {
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    const Space space = testing::random_space(seed);
    if (testing::brute_force(space).empty()) continue;
    Rng rng(seed);
    for (int i = 0; i < 20; ++i) {
      const Config config = space.config_of(space.sample(rng));
      EXPECT_EQ(space.why_invalid(config), std::nullopt) << to_text(config) << ", seed " << seed;
    }
  }
}

TEST(SpaceSampling, GivesEveryFamilyTheSameShare) {
  const Space space = testing::two_family_space();
  Rng rng(5);
  int few = 0;
  for (int i = 0; i < 10'000; ++i) few += space.sample(rng).family == 0 ? 1 : 0;
  EXPECT_NEAR(few, 5'000, 4 * 50);
}

TEST(SpaceSampling, PassesOverAFamilyWithoutValidConfigs) {
  FamilySpace empty("empty");
  empty.add("k", "", {1, 2});
  empty.only([](const Members&) { return false; });
  FamilySpace full("full");
  full.add("k", "", {1, 2});
  Rng rng(1);
  const Space both({empty, full});
  for (int i = 0; i < 10; ++i) EXPECT_EQ(both.sample(rng).family, 1);
  EXPECT_EQ(empty.sample(rng), std::nullopt);
  EXPECT_EQ(Space({empty}).try_sample(rng), std::nullopt);
  try {
    Space({empty}).sample(rng);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
  }
}

TEST(SpaceSampling, IsDeterministicBySeed) {
  const Space space = testing::gemm_like_space();
  Rng a(42);
  Rng b(42);
  Rng c(43);
  int differing = 0;
  for (int i = 0; i < 100; ++i) {
    const Point point = space.sample(a);
    EXPECT_EQ(point, space.sample(b));
    differing += point == space.sample(c) ? 0 : 1;
  }
  EXPECT_GT(differing, 95);
}

TEST(SpaceSampling, CostsNothingThatFollowsTheSizeOfTheProduct) {
  std::int64_t asked = 0;
  const Space space = testing::huge_space(&asked);
  ASSERT_GT(space.families()[0].product_size(), 1e12);
  Rng rng(7);
  constexpr int kDraws = 20'000;
  int valid = 0;
  Point point;
  for (int i = 0; i < kDraws; ++i) valid += space.families()[0].draw(rng, point) ? 1 : 0;
  const double share = static_cast<double>(valid) / kDraws;
  ASSERT_GE(share, 0.01);
  ASSERT_LE(share, 0.2) << "rejection is not exercised";
  asked = 0;
  constexpr int kSamples = 2'000;
  for (int i = 0; i < kSamples; ++i) space.sample(rng);
  EXPECT_GT(asked, 0);
  EXPECT_LT(asked, 50 * kSamples);
}

}  // namespace
}  // namespace lehr
