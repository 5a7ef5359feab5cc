// Compares the list of a session's first picks with what a session measures.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/hash.h"
#include "support.h"
#include "tune/first_picks.h"

namespace lehr::testing {
namespace {

/// The toy's candidates, and the tuner and the prior that `tune` has.
struct ColdSession {
  ToySession toy;
  std::uint64_t seed = 5;

  std::vector<FirstPick> picks() const {
    return first_picks(toy.candidates, toy.task.device.limits, seed, 1);
  }
  /// Returns what a session with the real tuner measures.
  std::vector<std::string> measured(int trials = 40) {
    toy.device.measurer = std::make_unique<FakeMeasurer>(toy.outcome_of, toy.clock);
    SessionOptions options = toy_options();
    options.seed = seed;
    options.stop.trials = trials;
    options.now_s = [this] { return toy.clock.now_s; };
    Session(toy.task, toy.candidates, toy.device, {toy.database}, options).run();
    std::vector<std::string> configs;
    for (const Record& row : toy.rows(options.session_id)) configs.push_back(to_text(row.config));
    return configs;
  }
};

TEST(FirstPicks, AreWhatASessionMeasuresFirst) {
  ColdSession cold;
  const std::vector<FirstPick> picks = cold.picks();
  const std::vector<std::string> measured = cold.measured();
  ASSERT_EQ(picks.size(), 8u);  // a CPU's model is fitted to eight
  ASSERT_GE(measured.size(), picks.size());
  std::set<std::string> distinct;
  for (std::size_t i = 0; i < picks.size(); ++i) {
    EXPECT_EQ(to_text(picks[i].config), measured[i]) << i;
    EXPECT_EQ(picks[i].picked_as, i == 0 ? "default" : i % 2 == 1 ? "prior" : "far");
    EXPECT_GT(picks[i].prior_us, 0);
    distinct.insert(measured[i]);
  }
  EXPECT_EQ(distinct.size(), picks.size());
}

TEST(FirstPicks, DependOnTheSeedAndOnNothingElse) {
  ColdSession cold, again, other;
  other.seed = 6;
  const auto texts = [](const ColdSession& session) {
    std::vector<std::string> all;
    for (const FirstPick& pick : session.picks()) all.push_back(to_text(pick.config));
    return all;
  };
  EXPECT_EQ(texts(cold), texts(again));
  EXPECT_NE(texts(cold), texts(other));
}

/// Returns a hash of texts in their order.
std::uint64_t hash_of(const std::vector<std::string>& texts) {
  std::uint64_t hash = 0;
  for (const std::string& text : texts) hash = hash_combine(hash, stable_hash(text));
  return hash;
}

// A seed's picks are kept: a change that is meant to alter them writes the new numbers here.
TEST(FirstPicks, SixtyFourOfASeedAreThoseOfEarlierVersions) {
  ColdSession cold;
  const std::vector<std::string> measured = cold.measured(64);
  EXPECT_EQ(measured.size(), 64u);
  EXPECT_EQ(hash_of(measured), 0xa143527abe257354u) << "the real tuner";
  const std::map<std::string, std::uint64_t> expected = {
      {"anneal", 0xf32d52e8c036f5bdu}, {"autotvm", 0xc0db5ae8e33043e7u}, {"random", 0x818021f65bad308au}};
  for (const auto& [strategy, hash] : expected) {
    ToySession toy;
    toy.options.strategy = strategy;
    toy.run();
    std::vector<std::string> picks;
    for (const Record& row : toy.rows(toy.options.session_id))
      picks.push_back(row.picked_by + " " + to_text(row.config));
    EXPECT_EQ(hash_of(picks), hash) << strategy;
  }
}

}  // namespace
}  // namespace lehr::testing
