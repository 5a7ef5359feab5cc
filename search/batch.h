// A batch of several picks: which configs may be picked, and the best of scored configs.
#pragma once

#include <cstddef>
#include <span>
#include <unordered_set>
#include <vector>

#include "base/rng.h"
#include "search/strategy.h"
#include "space/space.h"

namespace lehr {

/// The picks of one propose() call in order, the best first. They are at most `capacity` picks, distinct, and
/// not in `seen`.
class Batch {
 public:
  Batch(std::size_t capacity, const Seen& seen) : capacity_(capacity), seen_(&seen) {}  ///< borrows `seen`

  bool full() const { return picks_.size() >= capacity_; }
  std::size_t size() const { return picks_.size(); }
  std::size_t room() const { return capacity_ - picks_.size(); }
  /// Returns whether add() would add the point.
  bool accepts(const Point& point) const;
  /// Appends `point`. Returns false if the batch is full or has the point already, or if the point is in
  /// `seen`.
  bool add(const Point& point);
  const std::vector<Point>& picks() const { return picks_; }

 private:
  std::size_t capacity_;
  const Seen* seen_;
  std::vector<Point> picks_;
  std::unordered_set<Point, PointHash> members_;
};

/// Returns the indices of the k highest scores, or of all scores if there are fewer, best first. Of equal
/// scores the one with the lower index comes first. NaN comes last.
std::vector<std::size_t> top_k(std::span<const double> scores, std::size_t k);

}  // namespace lehr
