// The order of measured results.
#include "search/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/search/one_knob.h"

namespace lehr {
namespace {

using lehr::testing::at;
using ::testing::ElementsAre;

TEST(History, OrdersSuccessesAndLeavesFailuresOut) {
  History history;
  history.add(std::vector<Observed>{{at(1), 0.4}, {at(2), std::nullopt}, {at(3), 0.7}});
  history.add(std::vector<Observed>{{at(4), 0.5}});
  EXPECT_THAT(history.best(2), ElementsAre(at(3), at(4)));
  EXPECT_THAT(history.best(9), ElementsAre(at(3), at(4), at(1)));
  EXPECT_EQ(history.results().size(), 4U);
}

TEST(History, TakesALaterOneAsBetterThanAnEarlierOne) {
  History history;
  history.add(std::vector<Observed>{{at(1), 1.0}, {at(2), 0.97}});
  history.add(std::vector<Observed>{{at(3), 1.0}, {at(4), 0.96}});
  EXPECT_THAT(history.best(4), ElementsAre(at(3), at(4), at(1), at(2)));
}

TEST(History, KeepsAFixedScaleAsItIs) {
  History history;
  history.add(std::vector<Observed>{{at(1), 1.0}, {at(2), 1.5}, {at(3), 1.2}});
  EXPECT_THAT(history.best(4), ElementsAre(at(2), at(3), at(1)));
  EXPECT_EQ(history.results()[0].fitness, 1.0);
}

TEST(History, ReplacesTheResultOfAConfigObservedAgain) {
  History history;
  history.add(std::vector<Observed>{{at(1), 0.9}, {at(2), 0.5}});
  history.add(std::vector<Observed>{{at(1), 0.3}});
  EXPECT_THAT(history.best(4), ElementsAre(at(2), at(1)));
  history.add(std::vector<Observed>{{at(2), std::nullopt}});
  EXPECT_THAT(history.best(4), ElementsAre(at(1)));
}

}  // namespace
}  // namespace lehr
