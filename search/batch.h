// The choice of a batch: what may be picked at all, the best of the scored, the random share, and diversity.
// Pure functions and small values; strategies combine them.
#pragma once

#include <cstddef>
#include <span>
#include <unordered_set>
#include <vector>

#include "base/rng.h"
#include "search/strategy.h"
#include "space/space.h"

namespace lehr {

/// The picks of one propose call in order, most wanted first: at most `capacity`, distinct, none of them in
/// `seen`.
class Batch {
 public:
  Batch(std::size_t capacity, const Seen& seen) : capacity_(capacity), seen_(&seen) {}  ///< borrows `seen`

  bool full() const { return picks_.size() >= capacity_; }
  std::size_t size() const { return picks_.size(); }
  std::size_t room() const { return capacity_ - picks_.size(); }
  /// True if add() would take it.
  bool accepts(const Point& point) const;
  /// Appends `config`; false if the batch is full, or holds it already, or it is in `seen`.
  bool add(const Point& point);
  const std::vector<Point>& picks() const { return picks_; }

 private:
  std::size_t capacity_;
  const Seen* seen_;
  std::vector<Point> picks_;
  std::unordered_set<Point, PointHash> members_;
};

/// Indices of the k highest scores (all if there are fewer), best first; a tie goes to the lower index, NaN
/// comes last.
std::vector<std::size_t> top_k(std::span<const double> scores, std::size_t k);

/// `count * share` as a whole number whose expectation is exact: the fraction is rounded up with its own
/// probability, so that small batches get their share in the long run. 0 <= share <= 1.
std::size_t share_of(std::size_t count, double share, Rng& rng);

/// The share of random picks: linear from `first` in round 0 to `last` in round `rounds` and after.
struct EpsilonSchedule {
  double first = 0.2;
  double last = 0.05;  ///< AutoTVM's constant epsilon (its model_based_tuner.py)
  std::size_t rounds = 5;
};
double epsilon_at(const EpsilonSchedule& schedule, std::size_t round);

/// Greedy maximisation of L(S) = sum of f over S + alpha * sum over knobs j of |union of S's values of j| /
/// knobs (Chen et al., "Learning to Optimize Tensor Programs", 2018, Eq. 3, with f = minus the predicted
/// cost). f is the score scaled to [0, 1] over `candidates`, and a pick that brings a new value for each of
/// its knobs (and a new family) earns alpha, so alpha weighs one full set of new values against the whole
/// range of scores. Returns the indices of at most n candidates in the order of picking; ties go to the lower
/// index.
std::vector<std::size_t> diverse_pick(const Space& space, std::span<const ScoredPoint> candidates,
                                      std::size_t n, double alpha);

}  // namespace lehr
