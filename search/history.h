// The results that a strategy has observed: measured configs and their fitness, ordered.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "search/strategy.h"

namespace lehr {

/// Results in the order of observation. Supports a scale that moves with the best so far: if a fitness of
/// exactly 1 comes after another fitness of exactly 1, all earlier fitnesses were relative to a slower best.
/// By which factor is not known. They are lowered by kStale, which keeps their order and puts them below the
/// new best.
class History {
 public:
  static constexpr double kStale = 0.95;

  void add(std::span<const Observed> results);
  const std::vector<Observed>& results() const { return results_; }
  /// Returns the best successes, best first, at most k. A tie goes to the later one.
  std::vector<Point> best(std::size_t k) const;

 private:
  std::vector<Observed> results_;
  std::unordered_map<Point, std::size_t, PointHash> index_;
};

}  // namespace lehr
