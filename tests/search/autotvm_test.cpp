// Tests of AutoTVM's plan: what it is made of, and how it is handed out.
#include <gtest/gtest.h>

#include <algorithm>

#include "search/autotvm.h"

namespace lehr {
namespace {

// Returns 40 x 40 configs; the score is highest, 1, at (30, 10), and negative far from it.
Space plane() {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < 40; ++i) values.push_back(i);
  FamilySpace family("plane");
  family.add("x", "", values);
  family.add("y", "", values);
  return Space({family});
}

double height(const Point& point) {
  const double x = point.knobs[0] - 30.0, y = point.knobs[1] - 10.0;
  return 1 - (x * x + y * y) / 100;
}

std::vector<double> heights(std::span<const Point> points) {
  std::vector<double> result;
  for (const Point& point : points) result.push_back(height(point));
  return result;
}

TEST(Autotvm, PlansTheBestUnseenInTheirOrderAndEndsWithThreeRandomOnes) {
  const Space space = plane();
  AutotvmStrategy strategy(space);
  Rng rng(5);
  Seen seen;
  for (const Point& point : strategy.propose(64, seen, {}, rng)) seen.insert(point);
  ASSERT_EQ(seen.size(), 64u);
  const std::vector<Point> plan = strategy.propose(64, seen, heights, rng);
  ASSERT_EQ(plan.size(), 64u);
  const std::vector<double> scores = heights(plan);
  EXPECT_TRUE(std::is_sorted(scores.begin(), scores.begin() + 61, std::greater<>()));
  // 314 configs are no worse than 0; the best 61 of those that are new are above 0.75.
  EXPECT_GT(scores[60], 0.7);
  for (const Point& point : plan) EXPECT_FALSE(seen.contains(point));
}

TEST(Autotvm, HandsOutOnePlanInSeveralCallsAndAsksTheModelOncePerPlan) {
  const Space space = plane();
  AutotvmStrategy whole(space), parts(space);
  const auto collect = [&](AutotvmStrategy& strategy, std::size_t batch, int& calls) {
    Rng rng(9);
    Seen seen;
    std::vector<Point> all;
    // Scored calls between two plans would show in `calls`.
    const Score score = [&](std::span<const Point> points) {
      ++calls;
      return heights(points);
    };
    while (all.size() < 128) {
      const int before = calls;
      for (const Point& point : strategy.propose(batch, seen, score, rng)) {
        seen.insert(point);
        all.push_back(point);
      }
      EXPECT_EQ(calls > before, (all.size() - batch) % 64 == 0) << all.size();
    }
    return all;
  };
  int one = 0, two = 0;
  const std::vector<Point> a = collect(whole, 64, one), b = collect(parts, 16, two);
  EXPECT_TRUE(std::equal(a.begin(), a.begin() + 61, b.begin()));
}

TEST(Autotvm, FillsAPlanThatIsShortOfGoodConfigsWithRandomOnes) {
  const Space space = plane();
  AutotvmStrategy strategy(space);
  Rng rng(1);
  const Score none = [](std::span<const Point> points) { return std::vector<double>(points.size(), -1); };
  EXPECT_EQ(strategy.propose(64, {}, none, rng).size(), 64u);
}

}  // namespace
}  // namespace lehr
