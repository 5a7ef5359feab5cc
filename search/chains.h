// Parallel simulated annealing: many chains move together, so that a vectorised model scores their configs in
// one call.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/rng.h"
#include "search/scored_candidates.h"
#include "space/space.h"

namespace lehr {

/// The chains' states persist between runs: the next run starts where the last one ended, with new scores.
class Chains {
 public:
  /// Maximum number of chains. If the budget is too small for 150 steps of each, there are fewer chains, but
  /// at least 16.
  static constexpr std::size_t kMost = 128;

  /// Anneals until the steps, the patience or the budget are used up. A worse state is accepted with
  /// probability exp((new - old) / (t * spread)). `spread` is the standard deviation of the scores seen so
  /// far, so that the temperature means the same for every model. t falls linearly from 0.5 to 0 over the
  /// steps that the budget allows. The first run starts from `seeds` (at most a quarter of the chains) and
  /// random configs. Later runs replace the worst quarter of the chains, alternately by seeds and by random
  /// configs. All configs that were scored are in `scored` afterwards. Does nothing if sampling finds no
  /// config.
  void run(const Space& space, std::span<const Point> seeds, ScoredCandidates& scored, Rng& rng);

  const std::vector<Point>& states() const { return states_; }

 private:
  void start(const Space& space, std::span<const Point> seeds, std::size_t count, Rng& rng);
  void restart_worst(const Space& space, std::span<const Point> seeds, ScoredCandidates& scored, Rng& rng);

  std::vector<Point> states_;
};

}  // namespace lehr
