// Which configs are much alike to the analytic prior: those of one tile.
//
// It orders tiles, and hardly what a kernel does beside them: its best configs are one tile with the other
// knobs in all positions, which teaches a model nothing about tiles and bets all on one estimate. So of its
// picks three at most have one tile, and no two of them one shape of cluster.
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

  /// Borrows `space`. A tile is what a family's knobs `bm` and `bn` are, and `cluster_bm` and `cluster_bn`
  /// are a cluster. A family without the former is not held to anything, nor one without the latter to its
  /// clusters.
  explicit TileDiversity(const Space& space);

  /// From now on a config counts among those of its kind.
  void note(const Point& point);
  /// At most n of the candidates (the most wanted first), in their order, of whose kinds there are not too
  /// many; fewer where there are no more. They are not noted.
  std::vector<std::size_t> choose(std::span<const ScoredPoint> candidates, std::size_t n) const;

 private:
  /// Of a family: the places of the knobs among its own, -1 where it has none.
  struct Places {
    std::array<int, 2> tile = {-1, -1};
    std::array<int, 2> cluster = {-1, -1};
  };
  using Kind = std::array<std::int64_t, 5>;  // family, tile, cluster; 0 for a cluster: all of the tile
  using Counts = std::map<Kind, int>;
  void count(const Point& point, Counts& counts) const;
  bool fits(const Point& point, const Counts& counts) const;
  Kind kind_of(const Point& point, bool with_cluster) const;

  const Space* space_;
  std::vector<Places> places_;  // by family
  Counts noted_;
};

}  // namespace lehr
