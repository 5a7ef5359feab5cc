// A genetic algorithm on measured results: the model-free comparison that other autotuners ship.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "search/history.h"
#include "search/strategy.h"

namespace lehr {

struct GeneticOptions {
  std::size_t population = 100;  ///< AutoTVM's GATuner: pop_size
  std::size_t elites = 3;        ///< AutoTVM: elite_num
  double mutation = 0.1;         ///< per knob; AutoTVM: mutation_prob
  std::size_t tournament = 3;    ///< parents are the best of so many draws (AutoTVM: fitness-proportional)
};

/// The first `population` proposals are random. Then each proposal is a child of two parents, chosen by
/// tournament among the last `population` results and the best `elites` of all time. Ignores the score.
/// Borrows `space`.
class GeneticStrategy : public Strategy {
 public:
  explicit GeneticStrategy(const Space& space, const GeneticOptions& options = {})
      : space_(&space), options_(options) {}

  std::vector<Point> propose(std::size_t n, const Seen& seen, const Score& score, Rng& rng) override;
  void observe(std::span<const Observed> results) override { history_.add(results); }

 private:
  std::vector<Observed> parents() const;
  Point child(std::span<const Observed> parents, Rng& rng) const;

  const Space* space_;
  GeneticOptions options_;
  History history_;
};

}  // namespace lehr
