// What to measure next: strategy, models and features together, without any measuring. A session, the list of
// its first picks and a replay search with exactly this.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tune/knob_process.h"
#include "tune/learner.h"
#include "tune/scorer.h"
#include "tune/tuner.h"
#include "tune/turns.h"

namespace lehr {

/// One measured config.
struct Measurement {
  Point point;
  std::optional<double> time_us;  ///< nullopt: it failed
};

/// A config that is to be measured.
struct Proposal {
  Point point;
  /// Who wants it, as it is stored: "default", "resume", ... (tune/README.md). A Searcher that anneals says
  /// "transfer", "blind", "trees" or "process"; of another strategy its caller says the name.
  std::string picked_by = {};
  std::optional<double> predicted = {};  ///< the score when it was picked; nullopt: picked without a model
};

/// One config at a time: what was proposed and not observed is pending, and counts as measured for all that
/// is proposed meanwhile. Two proposers take turns (tune/turns.h): the trees, which know the kernels and what
/// other tasks say, and the process on the knobs, which knows how little it knows and asks nobody. Each saves
/// the other from where it would stay.
class Searcher {
 public:
  /// `tuner` has a strategy and features, at least; so many `threads` make and score these.
  Searcher(Tuner tuner, std::uint64_t seed, int threads);
  Searcher(const Searcher&) = delete;

  /// In the order of measurement; none of them is proposed again. `best_us` is the fastest of all so far.
  void observe(std::span<const Measurement> results, double best_us);
  /// The trees start from what other tasks say (borrowed), with the configs `first`. `with_prior`: until the
  /// first fit what the prior says is added to it. For tasks none of whose configs this space holds: through
  /// features alone they lead worse than the prior does (bench/results/transfer_quality).
  void start_from(const Transfer& transfer, bool with_prior, std::vector<Point> first);
  /// Fits the models if enough is new. Returns whether it did.
  bool refit_if_due();
  /// nullopt when the space is exhausted.
  std::optional<Proposal> next();
  /// Whether the fitted model scores some config that is not measured above `best`; true while nothing is
  /// learnt.
  bool expects_gain_over(const Point& best);

  const Tuner& tuner() const { return tuner_; }
  const Learner& learner() const { return learner_; }
  Scorer& scorer() { return scorer_; }

 private:
  using List = std::optional<std::vector<ScoredPoint>>;  // best first; nullopt: out of date

  std::optional<Proposal> by_trees();
  std::optional<Proposal> by_process();
  std::optional<Proposal> blindly();
  std::optional<Proposal> by_strategy(const Predict& predict);
  /// The most wanted of the list that nobody has measured.
  std::optional<Proposal> best_of(const std::vector<ScoredPoint>& list, const char* picked_by);
  const std::vector<ScoredPoint>& listed(List& list, const Predict& predict, std::size_t count);
  Predict tree_scores() const;
  void renew_process(bool choose);

  Tuner tuner_;
  Scorer scorer_;
  Learner learner_;
  std::optional<KnobProcess> process_;
  Turns turns_;
  Rng rng_;
  Seen seen_;  // measured or proposed
  std::unordered_map<Point, Turn, PointHash> pending_;
  List by_trees_, by_prior_;
  std::unordered_set<double> measured_scores_;  // by the last fit
  std::vector<Point> first_;                    // of other tasks, the next one last
  bool hints_with_prior_ = false;
};

}  // namespace lehr
