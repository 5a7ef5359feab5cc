// Spread-out random configs: see spread.h.
#include "search/spread.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"

namespace lehr {
namespace {

double distance_to_nearest(const Space& space, const Point& point, std::span<const Point> others) {
  double nearest = 2;  // more than any distance: the first pick is arbitrary
  for (const Point& other : others) nearest = std::min(nearest, knob_distance(space, point, other));
  return nearest;
}

}  // namespace

double knob_distance(const Space& space, const Point& a, const Point& b) {
  if (a.family != b.family) return 1;
  const std::vector<Knob>& knobs = space.families()[a.family].knobs();
  if (knobs.empty()) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    if (a.knobs[i] == b.knobs[i]) continue;
    const auto last = static_cast<float>(knobs[i].values.size() - 1);
    const float of_a = static_cast<float>(a.knobs[i]) / last, of_b = static_cast<float>(b.knobs[i]) / last;
    sum += (1 + std::abs(of_a - of_b)) / 2;
  }
  return sum / static_cast<double>(knobs.size());
}

void add_spread(const Space& space, std::size_t count, std::size_t candidates, std::span<const Point> others,
                Batch& batch, Rng& rng) {
  std::vector<Point> points(others.begin(), others.end());
  points.insert(points.end(), batch.picks().begin(), batch.picks().end());

  for (std::size_t added = 0; added < count && !batch.full(); ++added) {
    std::optional<Point> best;
    double best_distance = -1;
    for (std::size_t i = 0; i < candidates; ++i) {
      const auto point = space.try_sample(rng);
      if (!point) return;
      if (!batch.accepts(*point)) continue;
      const double distance = distance_to_nearest(space, *point, points);
      if (distance <= best_distance) continue;
      best = point;
      best_distance = distance;
    }
    if (!best) continue;
    batch.add(*best);
    points.push_back(*best);
  }
}

}  // namespace lehr
