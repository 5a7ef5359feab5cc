// Limits how many picks of the analytic prior have one tile.
//
// The prior orders tiles, and hardly sees the effect of other knobs: its best configs have one tile with all
// values of the other knobs. Such picks would teach a model nothing about tiles and bet everything on one
// estimate. So at most three picks have the same tile, and no two of these have the same cluster shape.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "search/strategy.h"
#include "space/space.h"

namespace lehr {

class TileDiversity {
 public:
  static constexpr int kMostOfATile = 3;

  /// Borrows `space`. A tile is the values of a family's knobs `bm` and `bn`; a cluster is the values of
  /// `cluster_bm` and `cluster_bn`. A family without tile knobs is not limited. In a family without cluster
  /// knobs only the tiles are limited.
  explicit TileDiversity(const Space& space);

  /// Counts a config for its tile and cluster.
  void note(const Point& point);
  /// Returns the positions of at most `n` candidates, in their order, the best first. It skips candidates
  /// whose tile or cluster has reached its limit. Returns fewer if there are no more. The chosen candidates
  /// are not counted by this.
  std::vector<std::size_t> choose(std::span<const ScoredPoint> candidates, std::size_t n) const;

 private:
  /// Positions of the tile and cluster knobs among a family's knobs; -1 if the family has no such knob.
  struct Places {
    std::array<int, 2> tile = {-1, -1};
    std::array<int, 2> cluster = {-1, -1};
  };
  // Family, tile, cluster; cluster 0 stands for all configs of the tile.
  using Kind = std::array<std::int64_t, 5>;
  using Counts = std::map<Kind, int>;
  void count(const Point& point, Counts& counts) const;
  bool fits(const Point& point, const Counts& counts) const;
  Kind kind_of(const Point& point, bool with_cluster) const;

  const Space* space_;
  std::vector<Places> places_;  // one for each family
  Counts noted_;
};

}  // namespace lehr
