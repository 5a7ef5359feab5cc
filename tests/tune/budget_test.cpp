// Tests of the clocks of a run, by a clock that stands where the test puts it.
#include "tune/budget.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support.h"

namespace lehr::testing {
namespace {

TEST(Budget, CountsWhatWasSpentBeforeAndNoPauses) {
  double now_s = 100;
  Budget budget(10, 1, [&] { return now_s; });
  EXPECT_EQ(budget.elapsed_s(), 1);
  now_s += 2;
  EXPECT_EQ(budget.left_s(), 7);
  EXPECT_EQ(budget.left_s(0.5), 2);
  budget.pause();
  now_s += 50;
  EXPECT_EQ(budget.elapsed_s(), 3);
  EXPECT_THROW(budget.pause(), Error);
  budget.resume();
  EXPECT_THROW(budget.resume(), Error);
  now_s += 1;
  budget.keep(5);
  EXPECT_EQ(budget.left().wanted_s, 1);
  EXPECT_EQ(budget.left().most_s, 6);
}

TEST(Budget, WithoutALimitHasNoEnd) {
  const Budget budget;
  EXPECT_FALSE(budget.limited());
  EXPECT_EQ(budget.left_s(0.1), kNoLimitS);
  EXPECT_EQ(budget.left().wanted_s, kNoLimitS);
}

TEST(Budget, IsOverWhenTheTimeIsThatItIsAPartOf) {
  double now_s = 0;
  const auto clock = [&] { return now_s; };
  Budget whole(10, 0, clock);
  whole.keep(4);
  const Budget part(0, 0, clock, &whole);
  now_s = 1;
  EXPECT_EQ(part.left().wanted_s, 5);
  EXPECT_EQ(part.left().most_s, 9);
  EXPECT_EQ(part.left().compile_s, 5);
  now_s = 6;
  EXPECT_EQ(part.left().wanted_s, 0);
  EXPECT_EQ(part.left().compile_s, 1) << "a compilation that was begun may take so long";
}

TEST(Budget, KnowsWhatTheTimeWentTo) {
  FakeClock clock;
  FakeMeasurer measurer([](const Source& source) { return toy_outcome(source); }, clock);
  Budget budget(20, 1, [&] { return clock.now_s; }, nullptr, &measurer);
  EXPECT_FALSE(budget.set_up());
  clock.now_s = 3;
  budget.spend(Purpose::kSetup, 2);
  EXPECT_EQ(budget.spent_s(Purpose::kSetup), 3) << "what was spent before is set-up";
  EXPECT_EQ(budget.inputs_s(), 0) << "they are in place";
  clock.now_s = 5;
  budget.spend(Purpose::kHints, 4.5);
  EXPECT_EQ(budget.per_trial_s(0), 0);
  EXPECT_EQ(budget.per_trial_s(3), 0.5);
  budget.pause();
  EXPECT_EQ(budget.inputs_s(), 2);
  budget.resume();
  budget.keep(3);
  budget.begin_finals(std::nullopt);
  clock.now_s = 7;
  EXPECT_EQ(budget.finals_left().wanted_s, 1);
  EXPECT_EQ(budget.finals_left().most_s, 12);
  const Elapsed elapsed = budget.elapsed();
  EXPECT_EQ(elapsed.total_s, 8);
  EXPECT_EQ(elapsed.parts.setup_s, 3);
  EXPECT_EQ(elapsed.parts.hints_s, 1.5);
  EXPECT_EQ(elapsed.parts.proposals_s, 1.5);
  EXPECT_EQ(elapsed.parts.finals_s, 2);
  budget.begin_finals(1);
  EXPECT_EQ(budget.finals_left().most_s, 1) << "of several tasks each has its part";
}

}  // namespace
}  // namespace lehr::testing
