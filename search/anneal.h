// The default strategy: simulated annealing on the model's scores, the neighbourhood of the best measured
// configs, a diverse choice, and a share of chance.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "search/batch.h"
#include "search/chains.h"
#include "search/history.h"
#include "search/scored_candidates.h"
#include "search/strategy.h"

namespace lehr {

/// Defaults that name AutoTVM are its values (TVM 0.18, python/tvm/autotvm/tuner); the others are ours,
/// chosen on the synthetic spaces of tests/search.
struct AnnealOptions {
  /// Upper limit of configs scored in one propose call.
  std::size_t max_scored = 20'000;
  /// A space with at most so many valid configs is scored whole, not annealed.
  std::size_t enumerate_up_to = 2'048;
  /// Share of a batch: one-step neighbours of the best measured configs.
  double local_share = 0.25;
  /// So many best measured configs have their neighbours considered.
  std::size_t local_parents = 8;
  /// Share of a batch: random configs; a round is a call with a model.
  EpsilonSchedule epsilon;
  /// So many of the best scored are what choose_by()'s function sees, or more.
  std::size_t short_list = 256;
  /// Lambda: the batch is chosen among the best lambda * n.
  double overdraw = 2;
  /// Weight of diversity, see diverse_pick; 0 takes the best n.
  double alpha = 0.25;
  /// Without a model: draws per proposal, the farthest from the others is taken.
  std::size_t spread_candidates = 8;
  /// Without a model: so many last observed configs count among the others.
  std::size_t spread_against = 256;
};

/// With a score: a batch is (1) `local_share` unmeasured neighbours of the best measured configs, the best by
/// score, (2) a diverse choice of the best that annealing found, both in one order by score, then (3) the
/// random share. Where choose_by() gave a function, it takes the place of (1) and (2): it picks among the
/// best that were scored, neighbours included. Without: (1) neighbours of the best measured configs, in turn,
/// then (2) random configs far from one another. The chains persist from call to call. Borrows `space`.
class AnnealStrategy : public Strategy {
 public:
  explicit AnnealStrategy(const Space& space, const AnnealOptions& options = {});

  std::vector<Point> propose(std::size_t n, const Seen& seen, const Score& score, Rng& rng) override;
  void choose_by(Choose choose, std::size_t among = 0) override {
    choose_ = std::move(choose);
    among_ = std::min(among, options_.max_scored);
  }
  void observe(std::span<const Observed> results) override { history_.add(results); }

  /// Configs scored in the last propose call.
  std::size_t last_scored() const { return last_scored_; }

 private:
  void add_scored(Batch& batch, const Seen& seen, const Score& score, Rng& rng);
  void add_blind(Batch& batch, Rng& rng);
  void explore(const Seen& seen, ScoredCandidates& scored, Rng& rng);
  /// Neighbours of the best measured configs, without those in `seen`; distinct.
  std::vector<Point> surroundings(const Seen& seen) const;

  const Space* space_;
  AnnealOptions options_;
  History history_;
  Chains chains_;
  std::vector<Point> all_;  // every valid config of a small space, else empty
  bool counted_ = false;    // all_ is decided
  Choose choose_;
  std::size_t among_ = 0;
  std::size_t round_ = 0;
  std::size_t last_scored_ = 0;
};

}  // namespace lehr
