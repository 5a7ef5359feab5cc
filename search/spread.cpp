// Spread-out random configs: see spread.h.
#include "search/spread.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"

namespace lehr {
namespace {

double distance_to_nearest(const KnobPoint& point, std::span<const KnobPoint> others) {
  double nearest = 2;  // more than any distance: the first pick is arbitrary
  for (const KnobPoint& other : others) nearest = std::min(nearest, knob_distance(point, other));
  return nearest;
}

}  // namespace

KnobPoint point_of(const Space& space, const Config& config) {
  const FamilySpace* family = space.family(config.family);
  CHECK(family != nullptr && family->knobs().size() == config.knobs.size(), "{}", to_text(config));
  KnobPoint point{static_cast<std::size_t>(family - space.families().data()), {}};
  point.positions.reserve(config.knobs.size());
  for (std::size_t i = 0; i < config.knobs.size(); ++i) {
    const auto& values = family->knobs()[i].values;
    const auto found = std::find(values.begin(), values.end(), config.knobs[i].value) - values.begin();
    point.positions.push_back(
        values.size() < 2 ? 0.0F : static_cast<float>(found) / static_cast<float>(values.size() - 1));
  }
  return point;
}

double knob_distance(const KnobPoint& a, const KnobPoint& b) {
  if (a.family != b.family) return 1;
  if (a.positions.empty()) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < a.positions.size(); ++i) {
    if (a.positions[i] != b.positions[i]) sum += (1 + std::abs(a.positions[i] - b.positions[i])) / 2;
  }
  return sum / static_cast<double>(a.positions.size());
}

void add_spread(const Space& space, std::size_t count, std::size_t candidates, std::span<const Config> others,
                Batch& batch, Rng& rng) {
  std::vector<KnobPoint> points;
  for (const Config& config : others) points.push_back(point_of(space, config));
  for (const Config& config : batch.picks()) points.push_back(point_of(space, config));

  for (std::size_t added = 0; added < count && !batch.full(); ++added) {
    std::optional<Config> best;
    KnobPoint best_point;
    double best_distance = -1;
    for (std::size_t i = 0; i < candidates; ++i) {
      auto config = space.try_sample(rng);
      if (!config) return;
      if (!batch.accepts(*config)) continue;
      KnobPoint point = point_of(space, *config);
      const double distance = distance_to_nearest(point, points);
      if (distance <= best_distance) continue;
      best = std::move(config);
      best_point = std::move(point);
      best_distance = distance;
    }
    if (!best) continue;
    batch.add(*best);
    points.push_back(std::move(best_point));
  }
}

}  // namespace lehr
