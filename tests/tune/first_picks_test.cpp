// The list of a session's first picks against what a session measures.
#include <gtest/gtest.h>

#include <set>

#include "costmodel/roofline_model.h"
#include "support.h"
#include "tune/first_picks.h"
#include "tune/tuner.h"

namespace lehr::testing {
namespace {

/// The toy's candidates, and the tuner and the prior that `tune` has.
struct ColdSession {
  ToySession toy;
  std::uint64_t seed = 5;

  std::vector<FirstPick> picks() const {
    return first_picks(toy.candidates, toy.task.device.limits, seed, 1);
  }
  /// What a session with the real tuner measures.
  std::vector<std::string> measured() {
    const Limits& limits = toy.task.device.limits;
    const Tuner tuner = make_tuner("anneal", toy.candidates.space, seed);
    const RooflineModel prior(limits);
    SessionOptions options = toy_options();
    options.seed = seed;
    options.stop.trials = 40;
    options.learner = learner_options(tuner, limits.target);
    options.batches = tuner.options.batches;
    FakeMeasurer measurer(toy.outcome_of, toy.clock);
    run_session(toy.task, toy.candidates, options,
                {.measurer = &measurer,
                 .strategy = tuner.strategy.get(),
                 .database = &toy.database,
                 .model = tuner.model.get(),
                 .validity = tuner.validity.get(),
                 .prior = &prior,
                 .interrupted = &toy.interrupted,
                 .on_event = {},
                 .now_s = [this] { return toy.clock.now_s; }});
    std::vector<std::string> configs;
    for (const Record& row : toy.rows(options.session_id)) configs.push_back(to_text(row.config));
    return configs;
  }
};

TEST(FirstPicks, AreWhatASessionMeasuresFirst) {
  ColdSession cold;
  const std::vector<FirstPick> picks = cold.picks();
  const std::vector<std::string> measured = cold.measured();
  ASSERT_EQ(picks.size(), 1u + 4u + 6u);  // a CPU's model is fitted to eight or more
  ASSERT_GE(measured.size(), picks.size());
  std::set<std::string> distinct;
  for (std::size_t i = 0; i < picks.size(); ++i) {
    EXPECT_EQ(to_text(picks[i].config), measured[i]) << i;
    EXPECT_EQ(picks[i].batch, i == 0 ? 0 : i <= 4 ? 1 : 2);
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

}  // namespace
}  // namespace lehr::testing
