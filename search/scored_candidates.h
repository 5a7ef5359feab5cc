// All configs scored during one propose() call. Each is scored once, and the best configs that may be picked
// are kept.
#pragma once

#include <cstddef>
#include <span>
#include <unordered_map>
#include <vector>

#include "search/batch.h"
#include "search/strategy.h"

namespace lehr {

/// Borrows `score` and `seen`. A score that is NaN counts as -infinity.
class ScoredCandidates {
 public:
  /// Keeps the `keep` best configs that are not in `seen`. Scores at most `budget` configs.
  ScoredCandidates(const Score& score, const Seen& seen, std::size_t keep, std::size_t budget);

  /// Returns scores in the order of `points`. All points that have no score yet are scored in one call.
  /// Points beyond the budget get -infinity and are not kept. CHECKs that the scorer returns one score per
  /// point.
  std::vector<double> score(std::span<const Point> points);

  std::size_t scored() const { return scores_.size(); }
  std::size_t left() const { return spent() ? 0 : budget_ - scores_.size(); }
  bool spent() const { return scores_.size() >= budget_; }
  /// Returns how many times the set of the best unseen configs has changed.
  std::size_t changes() const { return changes_; }
  /// Returns the standard deviation of all finite scores so far. Returns 1 if all scores are equal, so that
  /// callers can divide by it.
  double spread() const;
  /// Returns the best unseen configs, best first. Of equal scores the config that was scored earlier comes
  /// first.
  std::vector<ScoredPoint> best() const;

 private:
  using Scored = std::pair<const Point, double>;
  struct Kept {
    double score;
    std::size_t order;
    const Point* point;  // into scores_, whose nodes do not move
  };
  static bool better(const Kept& a, const Kept& b);
  void note(const Scored& scored);

  const Score* score_;
  const Seen* seen_;
  std::size_t keep_;
  std::size_t budget_;
  std::unordered_map<Point, double, PointHash> scores_;
  std::vector<Kept> kept_;  // a heap whose front is the worst kept config
  std::size_t noted_ = 0;
  std::size_t changes_ = 0;
  // Welford's running mean and sum of squared deviations of the finite scores.
  std::size_t finite_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

}  // namespace lehr
