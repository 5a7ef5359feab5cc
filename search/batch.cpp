// Batch choice: see batch.h.
#include "search/batch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "base/error.h"

namespace lehr {
namespace {

// Scores scaled to [0, 1]; values that are not finite count as the lowest.
std::vector<double> scaled(std::span<const ScoredPoint> candidates) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const ScoredPoint& each : candidates) {
    if (!std::isfinite(each.score)) continue;
    low = std::min(low, each.score);
    high = std::max(high, each.score);
  }
  std::vector<double> result(candidates.size(), 0);
  if (!(high > low)) return result;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (std::isfinite(candidates[i].score)) result[i] = (candidates[i].score - low) / (high - low);
  }
  return result;
}

// For each candidate the ids of its (family, knob, position of the value); the family itself is one of them.
// Ids are dense.
struct Traits {
  std::vector<std::vector<std::size_t>> of;
  std::size_t count = 0;
};

Traits traits_of(const Space& space, std::span<const ScoredPoint> candidates) {
  using Key = std::tuple<std::size_t, std::size_t, std::size_t>;
  std::map<Key, std::size_t> ids;
  Traits traits;
  for (const ScoredPoint& each : candidates) {
    std::vector<std::size_t>& mine = traits.of.emplace_back();
    const auto note = [&](Key key) { mine.push_back(ids.try_emplace(key, ids.size()).first->second); };
    const std::size_t knobs = space.families()[each.point.family].knobs().size();
    note({each.point.family, knobs, 0});
    for (std::size_t i = 0; i < knobs; ++i) note({each.point.family, i, each.point.knobs[i]});
  }
  traits.count = ids.size();
  return traits;
}

}  // namespace

bool Batch::accepts(const Point& point) const {
  return !full() && !seen_->contains(point) && !members_.contains(point);
}

bool Batch::add(const Point& point) {
  if (full() || seen_->contains(point) || !members_.insert(point).second) return false;
  picks_.push_back(point);
  return true;
}

std::vector<std::size_t> top_k(std::span<const double> scores, std::size_t k) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](std::size_t i) {
    return std::isnan(scores[i]) ? -std::numeric_limits<double>::infinity() : scores[i];
  };
  k = std::min(k, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k), order.end(),
                    [&](std::size_t a, std::size_t b) {
                      if (key(a) != key(b)) return key(a) > key(b);
                      if (std::isnan(scores[a]) != std::isnan(scores[b])) return std::isnan(scores[b]);
                      return a < b;
                    });
  order.resize(k);
  return order;
}

std::size_t share_of(std::size_t count, double share, Rng& rng) {
  CHECK(share >= 0 && share <= 1, "share {}", share);
  const double exact = static_cast<double>(count) * share;
  const double whole = std::floor(exact);
  return static_cast<std::size_t>(whole) + (rng.uniform() < exact - whole ? 1 : 0);
}

double epsilon_at(const EpsilonSchedule& schedule, std::size_t round) {
  if (round >= schedule.rounds) return schedule.last;
  const double progress = static_cast<double>(round) / static_cast<double>(schedule.rounds);
  return schedule.first + (schedule.last - schedule.first) * progress;
}

std::vector<std::size_t> diverse_pick(const Space& space, std::span<const ScoredPoint> candidates,
                                      std::size_t n, double alpha) {
  const std::vector<double> scores = scaled(candidates);
  const Traits traits = traits_of(space, candidates);
  std::vector<char> covered(traits.count, 0);
  std::vector<char> taken(candidates.size(), 0);
  std::vector<std::size_t> picks;
  while (picks.size() < std::min(n, candidates.size())) {
    std::size_t best = candidates.size();
    double best_gain = 0;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (taken[i]) continue;
      const auto fresh = std::count_if(traits.of[i].begin(), traits.of[i].end(),
                                       [&](std::size_t id) { return !covered[id]; });
      const double gain =
          scores[i] + alpha * static_cast<double>(fresh) / static_cast<double>(traits.of[i].size());
      if (best == candidates.size() || gain > best_gain) {
        best = i;
        best_gain = gain;
      }
    }
    taken[best] = 1;
    for (std::size_t id : traits.of[best]) covered[id] = 1;
    picks.push_back(best);
  }
  return picks;
}

}  // namespace lehr
