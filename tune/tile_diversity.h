// Limits how many picks of the analytic prior have one tile.
//
// The prior orders tiles, and hardly sees what else a kernel does: its best configs have one tile with all
// values of the other knobs. They would teach a model nothing about tiles and bet everything on one estimate.
// So at most three of its picks have one tile, and no two of these one shape of cluster.
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

  /// Borrows `space`. A tile is the values of a family's knobs `bm` and `bn`, a cluster those of `cluster_bm`
  /// and `cluster_bn`. A family without tile knobs is not limited, one without cluster knobs not in its
  /// clusters.
  explicit TileDiversity(const Space& space);

  /// Counts a config as one of its kind from now on.
  void note(const Point& point);
  /// Returns at most n candidates in their order, the most wanted first, skipping those whose kind is
  /// exhausted. Returns fewer if there are no more. They are not counted by this.
  std::vector<std::size_t> choose(std::span<const ScoredPoint> candidates, std::size_t n) const;

 private:
  /// The positions of these knobs among a family's own; -1 if it has no such knob.
  struct Places {
    std::array<int, 2> tile = {-1, -1};
    std::array<int, 2> cluster = {-1, -1};
  };
  using Kind = std::array<std::int64_t, 5>;  // family, tile, cluster; with cluster 0: all configs of the tile
  using Counts = std::map<Kind, int>;
  void count(const Point& point, Counts& counts) const;
  bool fits(const Point& point, const Counts& counts) const;
  Kind kind_of(const Point& point, bool with_cluster) const;

  const Space* space_;
  std::vector<Places> places_;  // by family
  Counts noted_;
};

}  // namespace lehr
