// Tests of whose turn it is: half each at first, more for the one that gains, at least an eighth.
#include "tune/turns.h"

#include <gtest/gtest.h>

namespace lehr {
namespace {

int of_process(Turns& turns, int count, Turn gains, double factor) {
  double us[] = {100};
  int mine = 0;
  for (int i = 0; i < count; ++i) {
    const Turn turn = turns.next();
    mine += turn == Turn::kGaussian ? 1 : 0;
    if (turn == gains) us[0] *= factor;
    turns.result(turn, us[0]);
  }
  return mine;
}

TEST(Turns, AlternateWhereNobodyGains) {
  Turns turns;
  EXPECT_EQ(turns.next(), Turn::kTrees);
  EXPECT_EQ(turns.next(), Turn::kGaussian);
  EXPECT_EQ(of_process(turns, 100, Turn::kTrees, 1), 50);
}

TEST(Turns, GoToWhoGainsButForAnEighth) {
  Turns trees, gaussian;
  EXPECT_NEAR(of_process(trees, 400, Turn::kTrees, 0.99), 50, 4);
  EXPECT_NEAR(of_process(gaussian, 400, Turn::kGaussian, 0.99), 350, 4);
}

TEST(Turns, ForgetAGain) {
  Turns turns;
  turns.other_result(100);
  turns.result(Turn::kGaussian, 10);
  turns.result(Turn::kTrees, 9.99);  // a gain after ten times as many turns counts little beside it
  EXPECT_NEAR(of_process(turns, 16, Turn::kTrees, 1), 14, 1);
  of_process(turns, 300, Turn::kTrees, 1);
  turns.result(Turn::kTrees, 1);
  EXPECT_NEAR(of_process(turns, 16, Turn::kTrees, 1), 2, 1);
}

TEST(Turns, AreNotMovedByFailuresOrByWhatNobodyProposed) {
  Turns turns;
  turns.other_result(100);
  turns.other_result(10);
  turns.result(Turn::kTrees, std::nullopt);
  turns.result(Turn::kTrees, 50);
  EXPECT_EQ(of_process(turns, 100, Turn::kTrees, 1), 50);
}

}  // namespace
}  // namespace lehr
