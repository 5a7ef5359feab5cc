// A genetic algorithm on measured results: the model-free comparison that other autotuners ship.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "search/history.h"
#include "search/strategy.h"

namespace lehr {

/// The first 100 proposals are random. Then each proposal is a child of two parents, chosen by tournament
/// among the last 100 results and the best 3 of all time. Ignores the score. Borrows `space`.
class GeneticStrategy : public Strategy {
 public:
  explicit GeneticStrategy(const Space& space) : space_(&space) {}

  std::vector<Point> propose(std::size_t n, const Seen& seen, const Score& score, Rng& rng) override;
  void observe(std::span<const Observed> results) override { history_.add(results); }

 private:
  std::vector<Observed> parents() const;
  Point child(std::span<const Observed> parents, Rng& rng) const;

  const Space* space_;
  History history_;
};

}  // namespace lehr
