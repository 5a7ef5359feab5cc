// Parallel simulated annealing: many chains that move together, so that a vectorised model scores them in one
// call.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/rng.h"
#include "search/scored_candidates.h"
#include "space/space.h"

namespace lehr {

/// "AutoTVM" names the values of TVM 0.18, python/tvm/autotvm/tuner/sa_model_optimizer.py. The others are
/// ours, chosen on synthetic landscapes over 7e7 valid configs of 12 knobs (tests/search/landscape.h is of
/// the same kind): with 2 000 scored configs, 128 chains from temperature 1 found 48-62 % of the optimum,
/// these values 97-100 %.
struct ChainOptions {
  /// AutoTVM: parallel_size; fewer where the budget is small, see min_steps.
  std::size_t chains = 128;
  /// AutoTVM: n_iter.
  std::size_t steps = 500;
  /// A budget too small for so many steps of all chains gets fewer chains, at least 16.
  std::size_t min_steps = 150;
  /// Steps without a change of the best set before it stops; AutoTVM: early_stop.
  std::size_t patience = 50;
  /// The first one, in standard deviations of the scores.
  double temperature = 0.5;
  /// Chains replaced at the start of a later run: the worst of them.
  double restart_share = 0.25;
};

/// States persist between runs: the next run starts where this one ended, under the new scores.
class Chains {
 public:
  explicit Chains(const ChainOptions& options) : options_(options) {}

  /// Anneals until the steps, the patience or the budget are used up. A worse state is accepted with
  /// probability exp((new - old) / (t * spread)), where spread is the standard deviation of the scores seen
  /// so far (so that the temperature means the same for every model) and t falls linearly from `temperature`
  /// to 0 over the steps that the budget allows. The first run starts from `seeds` (at most restart_share of
  /// the chains) and random configs; later runs put half as many seeds, and random configs, in the places of
  /// the worst chains. Leaves all that it found in `scored`. Does nothing if sampling finds no config.
  void run(const Space& space, std::span<const Point> seeds, ScoredCandidates& scored, Rng& rng);

  const std::vector<Point>& states() const { return states_; }

 private:
  void start(const Space& space, std::span<const Point> seeds, std::size_t count, Rng& rng);
  void restart_worst(const Space& space, std::span<const Point> seeds, ScoredCandidates& scored, Rng& rng);

  ChainOptions options_;
  std::vector<Point> states_;
};

}  // namespace lehr
