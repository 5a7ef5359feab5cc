// A search strategy. It gets only points and numbers.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "base/rng.h"
#include "space/space.h"

namespace lehr {

/// Scores points, in their order; higher is better. tune/ makes it from template, features and cost model.
using Score = std::function<std::vector<double>(std::span<const Point>)>;
/// A point with its score.
struct ScoredPoint {
  Point point;
  double score = 0;  ///< higher is better; any scale, may be negative or -infinity
};
/// Points that must not be proposed again.
using Seen = std::unordered_set<Point, PointHash>;

/// One measured point. Strategies only compare fitnesses, so any scale that is the same in all calls will do
/// (reference time / time). A scale that moves with the best time is supported too: a fitness of exactly 1
/// that follows another fitness of exactly 1 is a new best (search/history.h). If a config is observed again,
/// the new result replaces the first.
struct Observed {
  Point point;
  /// (best time so far in the task / time), in (0, 1]; nullopt: the config failed.
  std::optional<double> fitness;
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  /// Returns at most n configs, the best first. They are valid, distinct, and not in `seen`. Returns fewer if
  /// it finds no more, and no config if the space is exhausted. If `score` is empty, there is no model yet,
  /// and the proposal does not depend on one.
  virtual std::vector<Point> propose(std::size_t n, const Seen& seen, const Score& score, Rng& rng) = 0;
  /// Adds the results of measured configs, in the order of measurement.
  virtual void observe(std::span<const Observed> results) = 0;
};

}  // namespace lehr
