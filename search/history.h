// The results that a strategy has observed: measured configs and their fitness, ordered.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "search/strategy.h"

namespace lehr {

/// Results in the order of observation. Fitnesses may be relative to the best time so far, which changes. If
/// a fitness of exactly 1 comes after another fitness of exactly 1, all earlier fitnesses were relative to a
/// slower best time. The factor between the two best times is not known. So the earlier fitnesses are
/// multiplied by kStale, which keeps their order and puts them below the new best.
class History {
 public:
  static constexpr double kStale = 0.95;

  void add(std::span<const Observed> results);
  const std::vector<Observed>& results() const { return results_; }
  /// Returns at most k successes, those with the best fitness, best first. Of equal fitnesses the later
  /// result comes first.
  std::vector<Point> best(std::size_t k) const;

 private:
  std::vector<Observed> results_;
  std::unordered_map<Point, std::size_t, PointHash> index_;
};

}  // namespace lehr
