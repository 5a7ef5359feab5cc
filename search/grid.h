// Exhaustive search in lexicographic order: for small spaces, and as a comparison.
#pragma once

#include "search/strategy.h"

namespace lehr {

/// Walks on from call to call; at the end it begins once more, for configs that were proposed but never
/// measured. Ignores the score and the results; uses no random numbers. Borrows `space`.
class GridStrategy : public Strategy {
 public:
  explicit GridStrategy(const Space& space) : space_(&space), cursor_(space) {}

  std::vector<Point> propose(std::size_t n, const Seen& seen, const Score& score, Rng& rng) override;
  void observe(std::span<const Observed>) override {}

 private:
  const Space* space_;
  GridCursor cursor_;
};

}  // namespace lehr
