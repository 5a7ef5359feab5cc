// What to measure next: strategy, models and features together, without any measuring. A session, the list of
// its first picks and a replay search with exactly this.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tune/learner.h"
#include "tune/scorer.h"
#include "tune/tuner.h"

namespace lehr {

/// One measured config.
struct Measurement {
  Point point;
  std::optional<double> time_us;  ///< nullopt: it failed
};

/// A config that is to be measured.
struct Proposal {
  Point point;
  /// Who wants it, as it is stored: "default", "anneal", "random", "transfer", "resume", ... A Searcher
  /// leaves it to its caller, which knows the strategy's name.
  std::string picked_by = {};
  std::optional<double> predicted = {};  ///< the score that it was picked by; nullopt: picked without a model
};

class Searcher {
 public:
  /// `tuner` has a strategy and features, at least; so many `threads` make and score these.
  Searcher(Tuner tuner, std::uint64_t seed, int threads);
  Searcher(const Searcher&) = delete;

  /// In the order of measurement; none of them is proposed again. `best_us` is the fastest of all so far.
  void observe(std::span<const Measurement> results, double best_us);
  /// Scores start from what other tasks say; borrows it. `with_prior`: until the first fit what the prior
  /// says is added to it. For tasks none of whose configs this space holds: through features alone they lead
  /// worse than the prior does (bench/results/transfer_quality).
  void start_from(const Transfer& transfer, bool with_prior);
  /// Fits the models if enough is new. Returns whether it did.
  bool refit_if_due() { return learner_.refit_if_due(); }
  /// At most `count`, the most wanted first; empty when the space is exhausted. The first batch after other
  /// tasks were dropped ends with (or is) configs far from one another, as a cold start begins: what was
  /// measured until then is where those tasks led.
  std::vector<Proposal> propose(std::size_t count);
  /// The size of the next batch; each call is one batch.
  std::size_t next_batch();
  /// Whether a fitted model scores one of the last proposals above `best`; true while nothing is learnt.
  bool expects_gain_over(const Point& best);

  const Tuner& tuner() const { return tuner_; }
  const Learner& learner() const { return learner_; }
  Scorer& scorer() { return scorer_; }

 private:
  Predict predictor() const;
  Choose chooser();
  std::vector<Proposal> propose_by(const Predict& predict, std::size_t count, const Seen& seen);
  void tell_how_to_choose(bool scores);

  Tuner tuner_;
  Scorer scorer_;
  Learner learner_;
  Rng rng_;
  Seen seen_;
  std::size_t batch_;
  bool hints_with_prior_ = false;
  bool made_up_ = false;  // for the beginning that other tasks, dropped since, took the place of
  std::optional<double> best_proposed_;  // of the last proposals, if a fitted model scored them
};

}  // namespace lehr
