// Decides what to measure next, from strategy, models and features, without measuring anything. Sessions,
// first_picks() and replays all search with it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tune/knob_gaussian.h"
#include "tune/learner.h"
#include "tune/scorer.h"
#include "tune/tuner.h"
#include "tune/turns.h"

namespace lehr {

/// One measured config.
struct Measurement {
  Point point;
  std::optional<double> time_us;  ///< nullopt: the config failed
};

/// A config to measure.
struct Proposal {
  Point point;
  /// Name of the proposer, as it is stored: "default", "resume", ... (tune/README.md). A Searcher that
  /// anneals sets "transfer", "blind", "trees" or "Gaussian process". For another strategy the caller sets
  /// the strategy's name.
  std::string picked_by = {};
  /// The model's score when it was picked; nullopt: picked without a model.
  std::optional<double> predicted = {};
};

/// Proposes one config at a time. A config that was proposed and not yet observed is pending, and counts as
/// measured for later proposals. Two proposers take turns (tune/turns.h): the trees, which know the kernels
/// and other tasks, and the Gaussian process on the knobs, which knows its uncertainty and uses no other
/// task. Each leads the other out of regions of the space where it would get stuck.
class Searcher {
 public:
  /// `tuner` has at least a strategy and features. `threads` is the number of threads that make features and
  /// scores.
  Searcher(Tuner tuner, std::uint64_t seed, int threads);
  Searcher(const Searcher&) = delete;

  /// Adds results in the order of measurement. Their configs are not proposed again. `best_us` is the fastest
  /// time so far.
  void observe(std::span<const Measurement> results, double best_us);
  /// Starts the trees from other tasks (borrowed), and proposes the configs `first` first. `with_prior`:
  /// until the first fit the prior's score is added to the trees' score. Set it if this space holds no config
  /// of the other tasks: through features alone they mislead more than the prior does
  /// (bench/results/transfer_quality).
  void start_from(const Transfer& transfer, bool with_prior, std::vector<Point> first);
  /// Fits the models if there are enough new results. Returns whether it did.
  bool refit_if_due();
  /// Returns the next proposal; nullopt when the space is exhausted.
  std::optional<Proposal> next();
  /// Whether the fitted model scores some unmeasured config above `best`. True if nothing is learnt yet.
  bool expects_gain_over(const Point& best);

  const Tuner& tuner() const { return tuner_; }
  const Learner& learner() const { return learner_; }
  Scorer& scorer() { return scorer_; }

 private:
  using List = std::optional<std::vector<ScoredPoint>>;  // best first; nullopt: out of date

  std::optional<Proposal> by_trees();
  std::optional<Proposal> by_gaussian();
  std::optional<Proposal> blindly();
  std::optional<Proposal> by_strategy(const Predict& predict);
  /// Returns the best config of the list that was neither measured nor proposed.
  std::optional<Proposal> best_of(const std::vector<ScoredPoint>& list, const char* picked_by);
  const std::vector<ScoredPoint>& listed(List& list, const Predict& predict, std::size_t count);
  Predict tree_scores() const;
  void renew_gaussian(bool choose);

  Tuner tuner_;
  Scorer scorer_;
  Learner learner_;
  std::optional<KnobGaussian> gaussian_;
  Turns turns_;
  Rng rng_;
  Seen seen_;  // measured or proposed
  std::unordered_map<Point, Turn, PointHash> pending_;
  List by_trees_, by_prior_;
  std::unordered_set<double> measured_scores_;  // scores of measured configs by the last fit's model
  std::vector<Point> first_;                    // first picks from other tasks, the next one last
  bool hints_with_prior_ = false;
};

}  // namespace lehr
