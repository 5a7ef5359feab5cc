// Counts picks by tile and cluster.
#include "tune/tile_diversity.h"

#include <algorithm>
#include <string_view>

namespace lehr {
namespace {

int position_of(const FamilySpace& family, std::string_view name) {
  const auto found = std::ranges::find(family.knobs(), name, &Knob::name);
  return found == family.knobs().end() ? -1 : static_cast<int>(found - family.knobs().begin());
}

int count_of(const auto& counts, const auto& kind) {
  const auto found = counts.find(kind);
  return found == counts.end() ? 0 : found->second;
}

}  // namespace

TileDiversity::TileDiversity(const Space& space) : space_(&space) {
  for (const FamilySpace& family : space.families())
    places_.push_back({.tile = {position_of(family, "bm"), position_of(family, "bn")},
                       .cluster = {position_of(family, "cluster_bm"), position_of(family, "cluster_bn")}});
}

TileDiversity::Kind TileDiversity::kind_of(const Point& point, bool with_cluster) const {
  const std::vector<Knob>& knobs = space_->families()[point.family].knobs();
  const auto value = [&](int place) {
    if (place < 0) return std::int64_t{0};
    const auto at = static_cast<std::size_t>(place);
    return knobs[at].values[point.knobs[at]];
  };
  const Places& places = places_[point.family];
  Kind kind = {static_cast<std::int64_t>(point.family), value(places.tile[0]), value(places.tile[1]), 0, 0};
  if (with_cluster) {
    kind[3] = value(places.cluster[0]);
    kind[4] = value(places.cluster[1]);
  }
  return kind;
}

void TileDiversity::count(const Point& point, Counts& counts) const {
  ++counts[kind_of(point, false)];
  if (places_[point.family].cluster[0] >= 0) ++counts[kind_of(point, true)];
}

bool TileDiversity::fits(const Point& point, const Counts& counts) const {
  const Places& places = places_[point.family];
  if (places.tile[0] < 0) return true;
  if (count_of(counts, kind_of(point, false)) >= kMostOfATile) return false;
  return places.cluster[0] < 0 || count_of(counts, kind_of(point, true)) == 0;
}

void TileDiversity::note(const Point& point) {
  count(point, noted_);
}

std::vector<std::size_t> TileDiversity::choose(std::span<const ScoredPoint> candidates, std::size_t n) const {
  Counts counts = noted_;
  std::vector<std::size_t> picks;
  for (std::size_t i = 0; i < candidates.size() && picks.size() < n; ++i) {
    if (!fits(candidates[i].point, counts)) continue;
    count(candidates[i].point, counts);
    picks.push_back(i);
  }
  return picks;
}

}  // namespace lehr
