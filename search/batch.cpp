// Picks: see batch.h.
#include "search/batch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace lehr {
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

}  // namespace lehr
