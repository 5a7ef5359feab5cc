// Tests of where the Gaussian process on the knobs expects a gain.
#include "tune/knob_gaussian.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lehr {
namespace {

// Returns a space of two knobs: a decides, best at 11; b does nothing.
Space two_knobs() {
  FamilySpace family("f");
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < 32; ++i) values.push_back(i);
  family.add("a", "", values);
  family.add("b", "", values);
  return Space({family});
}
Point point(std::size_t a, std::size_t b) {
  return {0, {static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b)}};
}
double time_of(const Point& point) {
  return 10 + 0.2 * std::pow(point.knobs[0] - 11.0, 2);
}

struct Search {
  Space space = two_knobs();
  KnobGaussian gaussian{space};
  Seen seen;
  Rng rng{1};

  void measure(const Point& at) {
    gaussian.observe(at, time_of(at));
    seen.insert(at);
  }
  Point pick() {
    if (!gaussian.current()) gaussian.renew(true, {}, seen, rng);
    const Point best = gaussian.most_promising(seen, {}).value();
    seen.insert(best);
    gaussian.assume(best);
    return best;
  }
};

TEST(KnobGaussian, GoesToTheBestAndPaysForNoTwinOfAMeasuredConfig) {
  Search search;
  for (const std::size_t a : {0U, 5U, 16U, 21U, 26U, 31U}) search.measure(point(a, (7 * a) % 32));
  std::vector<std::size_t> picked;
  double best = 1e9;
  for (int i = 0; i < 10; ++i) {
    const Point pick = search.pick();
    picked.push_back(pick.knobs[0]);
    best = std::min(best, time_of(pick));
    search.gaussian.observe(pick, time_of(pick));
    search.gaussian.renew(true, {}, search.seen, search.rng);
  }
  EXPECT_EQ(best, 10);
  // The Gaussian process finds out that b does nothing, and tries few values of a twice.
  std::ranges::sort(picked);
  EXPECT_GE(std::unique(picked.begin(), picked.end()) - picked.begin(), 7);
}

TEST(KnobGaussian, SpreadsWhatIsInHand) {
  Search search;
  for (const std::size_t a : {0U, 8U, 16U, 24U, 31U}) search.measure(point(a, a));
  std::vector<Point> pending;
  for (int i = 0; i < 8; ++i) pending.push_back(search.pick());
  for (const Point& each : pending) {
    EXPECT_LT(search.gaussian.belief(each).deviation, search.gaussian.belief(point(31, 0)).deviation + 1e-9);
    search.gaussian.observe(each, time_of(each));
  }
  EXPECT_TRUE(search.gaussian.current()) << "told in the order of the picks";
  search.pick();
  const Point late = search.pick();
  search.gaussian.observe(late, time_of(late));
  EXPECT_FALSE(search.gaussian.current()) << "out of order";
}

TEST(KnobGaussian, LeavesWhatHardlyCanBeValid) {
  Search search;
  for (const std::size_t a : {0U, 5U, 16U, 21U, 31U}) search.measure(point(a, a));
  search.gaussian.renew(true, {}, search.seen, search.rng);
  const Point wanted = search.gaussian.most_promising(search.seen, {}).value();
  const Score chance = [&](std::span<const Point> points) {
    std::vector<double> logs;
    for (const Point& each : points) logs.push_back(each == wanted ? -50 : 0);
    return logs;
  };
  EXPECT_NE(search.gaussian.most_promising(search.seen, chance), wanted);
}

TEST(KnobGaussian, HasProcessesOfItsFamilies) {
  FamilySpace first("f"), second("g");
  first.add("a", "", {1, 2, 4, 8});
  second.add("x", "", {0, 1});
  second.add("y", "", {0, 1, 2, 3});
  const Space space({first, second});
  KnobGaussian gaussian(space);
  Seen seen;
  Rng rng(1);
  for (std::uint16_t i = 0; i < 4; ++i) {
    gaussian.observe({0, {i}}, 100.0 + i);
    seen.insert({0, {i}});
  }
  gaussian.renew(true, {}, seen, rng);
  const std::optional<Point> pick = gaussian.most_promising(seen, {});
  ASSERT_TRUE(pick.has_value());
  EXPECT_EQ(pick->family, 1) << "nothing is known of it";
  EXPECT_EQ(gaussian.belief(*pick).mean, 0);
}

}  // namespace
}  // namespace lehr
