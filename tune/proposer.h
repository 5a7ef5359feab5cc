// What to measure next: strategy, model and features together, without any measuring. `tune` and `replay` run
// exactly this.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "search/strategy.h"
#include "tune/learner.h"
#include "tune/scorer.h"
#include "tune/tile_diversity.h"

namespace lehr {

/// One measured config.
struct Measurement {
  Point point;
  std::optional<double> time_us;  ///< nullopt: it failed
};

/// A config that is to be measured.
struct Proposal {
  Point point;
  /// Who wants it, as it is stored: "default", "anneal", "random", "transfer", "resume", ... A Proposer
  /// leaves it to its caller, which knows the strategy's name.
  std::string picked_by = {};
  std::optional<double> predicted = {};  ///< the score that it was picked by; nullopt: picked without a model
};

/// Sizes of the batches that are measured between two looks at the model: small first, because the model is
/// young; then enough to keep the compiler's processes busy.
struct BatchSchedule {
  std::size_t first = 4;
  std::size_t step = 2;
  std::size_t largest = 32;
};

class Proposer {
 public:
  /// Borrows all; `prior` scores before the first fit, nullptr: nothing does.
  Proposer(Strategy& strategy, Learner& learner, Scorer& scorer, const CostModel* prior,
           const BatchSchedule& batches, std::uint64_t seed);

  /// In the order of measurement; `best_us` is the fastest of all so far.
  void observe(std::span<const Measurement> results, double best_us);
  /// Scores start from what other tasks say; borrows it. `with_prior`: until the first fit what the prior
  /// says is added to it. For tasks none of whose configs this space holds: through features alone they lead
  /// worse than the prior does (bench/results/transfer_quality).
  void start_from(const Transfer& transfer, bool with_prior) {
    learner_->start_from(transfer);
    hints_with_prior_ = with_prior;
  }
  /// From now on what the prior alone picks is of several kinds (tune/tile_diversity.h), counting what is
  /// observed from now on; where the target's sessions begin with such picks (Machine::first_picks). Borrows
  /// the strategy's space.
  void vary_prior_picks(const Space& space, Target target);
  /// Fits the models if enough is new. Returns whether it did.
  bool refit_if_due() { return learner_->refit_if_due(); }
  /// At most `count`, the most wanted first; empty when the space is exhausted. The first batch after other
  /// tasks were dropped ends with (or is) configs far from one another, as a cold start begins: what was
  /// measured until then is where those tasks led.
  std::vector<Proposal> propose(std::size_t count, const Seen& seen);
  /// The size of the next batch; each call is one batch.
  std::size_t next_batch();
  /// Whether a fitted model scores one of the last proposals above `best`; true while nothing is learnt.
  bool expects_gain_over(const Point& best);

 private:
  Predict predictor() const;
  Choose chooser() const;
  std::vector<Proposal> propose_by(const Predict& predict, std::size_t count, const Seen& seen);
  void tell_how_to_choose(bool scores);

  Strategy* strategy_;
  Learner* learner_;
  Scorer* scorer_;
  const CostModel* prior_;
  std::optional<TileDiversity> diversity_;
  bool hints_with_prior_ = false;
  BatchSchedule batches_;
  std::size_t batch_;
  Rng rng_;
  bool made_up_ = false;  // for the beginning that other tasks, dropped since, took the place of
  std::optional<double> best_proposed_;  // of the last proposals, if a fitted model scored them
};

}  // namespace lehr
