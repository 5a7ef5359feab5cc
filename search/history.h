// What a strategy was told: measured configs and their fitness, ordered.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "search/strategy.h"

namespace lehr {

/// Results in the order of observation. Understands a scale that moves with the best so far: when a
/// fitness of exactly 1 comes after another fitness of exactly 1, all that came before is now known to be
/// worse than it was told, by a factor that nobody told; it is lowered by kStale, which keeps its order and
/// puts it below the new best.
class History {
 public:
  static constexpr double kStale = 0.95;

  void add(std::span<const Observed> results);
  const std::vector<Observed>& results() const { return results_; }
  /// The best successes, best first, at most k; a tie goes to the later one.
  std::vector<Point> best(std::size_t k) const;

 private:
  std::vector<Observed> results_;
  std::unordered_map<Point, std::size_t, PointHash> index_;
};

}  // namespace lehr
