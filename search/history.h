// What a strategy was told: measured configs and their fitness, ordered.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "search/strategy.h"

namespace lehr {

/// Results in the order of observation; what the space does not contain (an older template's rows) is left
/// out, so that moves may start from any of them. Understands a scale that moves with the best so far: when a
/// fitness of exactly 1 comes after another fitness of exactly 1, all that came before is now known to be
/// worse than it was told, by a factor that nobody told; it is lowered by kStale, which keeps its order and
/// puts it below the new best.
class History {
 public:
  static constexpr double kStale = 0.95;

  explicit History(const Space& space) : space_(&space) {}  ///< borrows `space`

  void add(std::span<const Observed> results);
  const std::vector<Observed>& results() const { return results_; }
  /// The best successes, best first, at most k; a tie goes to the later one.
  std::vector<Config> best(std::size_t k) const;

 private:
  const Space* space_;
  std::vector<Observed> results_;
  std::unordered_map<Config, std::size_t, ConfigHash> index_;
};

}  // namespace lehr
