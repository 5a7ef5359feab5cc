// Uniform random search without repetition. Every model is compared with it.
#pragma once

#include "search/strategy.h"

namespace lehr {

/// Ignores the score and the results. Borrows `space`.
class RandomStrategy : public Strategy {
 public:
  explicit RandomStrategy(const Space& space) : space_(&space) {}

  std::vector<Point> propose(std::size_t n, const Seen& seen, const Score& score, Rng& rng) override;
  void observe(std::span<const Observed>) override {}

 private:
  const Space* space_;
};

}  // namespace lehr
