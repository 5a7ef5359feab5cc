// Random completion of a batch: see fill.h.
#include "search/fill.h"

#include <algorithm>
#include <optional>

namespace lehr {
namespace {

// Number of draws per wanted config before the space is walked. The walk begins when less than about 1 in 20
// draws is new. The space is then at most about 20 times as large as the set of seen configs, so the walk is
// short.
constexpr std::size_t kDrawsPerConfig = 20;
constexpr std::size_t kMinDraws = 200;
// Number of unseen configs that are collected before drawing among them. It limits the walk through a large
// space in which sampling finds no config.
constexpr std::size_t kMaxLeft = 20'000;

std::vector<Point> left_over(const Space& space, const Batch& batch) {
  std::vector<Point> left;
  GridCursor cursor(space);
  while (const auto point = cursor.next()) {
    if (!batch.accepts(*point)) continue;
    left.push_back(*point);
    if (left.size() == kMaxLeft) break;
  }
  return left;
}

}  // namespace

std::size_t add_random(const Space& space, std::size_t count, Batch& batch, Rng& rng) {
  const std::size_t before = batch.size();
  const std::size_t target = before + std::min(count, batch.room());
  for (std::size_t draws = kMinDraws + kDrawsPerConfig * count; draws > 0 && batch.size() < target; --draws) {
    const auto point = space.try_sample(rng);
    if (!point) break;
    batch.add(*point);
  }
  if (batch.size() < target) {
    std::vector<Point> left = left_over(space, batch);
    rng.shuffle(left);
    for (const Point& point : left) {
      if (batch.size() == target) break;
      batch.add(point);
    }
  }
  return batch.size() - before;
}

}  // namespace lehr
