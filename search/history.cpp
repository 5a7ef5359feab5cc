// Ordered results: see history.h.
#include "search/history.h"

#include <algorithm>

namespace lehr {

void History::add(std::span<const Observed> results) {
  for (const Observed& result : results) {
    const bool moved =
        result.fitness == 1.0 && std::any_of(results_.begin(), results_.end(), [&](const Observed& old) {
          return old.fitness == 1.0 && !(old.point == result.point);
        });
    if (moved) {
      for (Observed& old : results_) {
        if (old.fitness) *old.fitness *= kStale;
      }
    }
    const auto [entry, fresh] = index_.try_emplace(result.point, results_.size());
    if (fresh) {
      results_.push_back(result);
    } else {
      results_[entry->second].fitness = result.fitness;
    }
  }
}

std::vector<Point> History::best(std::size_t k) const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < results_.size(); ++i) {
    if (results_[i].fitness) order.push_back(i);
  }
  k = std::min(k, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k), order.end(),
                    [&](std::size_t a, std::size_t b) {
                      const double left = *results_[a].fitness;
                      const double right = *results_[b].fitness;
                      return left != right ? left > right : a > b;
                    });
  std::vector<Point> points;
  for (std::size_t i = 0; i < k; ++i) points.push_back(results_[order[i]].point);
  return points;
}

}  // namespace lehr
