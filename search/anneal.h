// The default strategy: simulated annealing on a score. It also scores the neighbours of the best measured
// configs.
#pragma once

#include <cstddef>
#include <vector>

#include "search/chains.h"
#include "search/history.h"
#include "search/strategy.h"

namespace lehr {

class AnnealStrategy : public Strategy {
 public:
  /// Upper limit of the number of configs that are scored in one call. Lowering and features take some 40 us
  /// per config.
  static constexpr std::size_t kMaxScored = 8'000;
  /// If a space has at most this many valid configs, all are scored, and nothing is annealed.
  static constexpr std::size_t kEnumerated = 2'048;
  /// Number of the best measured configs whose neighbours are considered.
  static constexpr std::size_t kParents = 8;

  /// Borrows `space`.
  explicit AnnealStrategy(const Space& space, std::size_t max_scored = kMaxScored)
      : space_(&space), max_scored_(max_scored) {}

  /// With a score, returns the best of short_list(). Without a score, returns configs that are far from one
  /// another and from the measured configs. If these are fewer than `n`, random configs are added.
  std::vector<Point> propose(std::size_t n, const Seen& seen, const Score& score, Rng& rng) override;
  void observe(std::span<const Observed> results) override { history_.add(results); }

  /// Returns at most `count` configs that are not in `seen`: those with the best scores that annealing finds,
  /// best first. The chains' states persist from call to call.
  std::vector<ScoredPoint> short_list(std::size_t count, const Seen& seen, const Score& score, Rng& rng);
  const Space& space() const { return *space_; }
  /// Returns the number of configs scored in the last call.
  std::size_t last_scored() const { return last_scored_; }

 private:
  void explore(const Seen& seen, ScoredCandidates& scored, Rng& rng);

  const Space* space_;
  std::size_t max_scored_;
  History history_;
  Chains chains_;
  std::vector<Point> all_;  // all valid configs if the space is small, else empty
  bool counted_ = false;    // whether the configs for all_ were counted
  std::size_t last_scored_ = 0;
};

}  // namespace lehr
