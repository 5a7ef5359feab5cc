// A search strategy: sees points and numbers, nothing else.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "base/rng.h"
#include "space/space.h"

namespace lehr {

/// Scores points, in their order; higher is better. Built by tune/ from template, features and cost model.
using Score = std::function<std::vector<double>(std::span<const Point>)>;
/// A point with its score.
struct ScoredPoint {
  Point point;
  double score = 0;  ///< higher is better; any scale, may be negative or -infinity
};
/// Points that must not be proposed again.
using Seen = std::unordered_set<Point, PointHash>;

/// One measured point. Strategies only order fitnesses, so any scale that is the same in all calls will do
/// (reference time / time). A moving scale is supported too: a fitness of exactly 1 that follows another
/// fitness of exactly 1 is a new best (search/history.h). A config observed again replaces its first result.
struct Observed {
  Point point;
  std::optional<double> fitness;  ///< best time so far in the task / time, in (0, 1]; nullopt: it failed
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  /// Returns at most n configs, the most wanted first: valid, distinct, not in `seen`. Returns fewer when it
  /// finds no more, and none when the space is exhausted. If `score` is empty (no model yet), the proposal
  /// does not depend on a model.
  virtual std::vector<Point> propose(std::size_t n, const Seen& seen, const Score& score, Rng& rng) = 0;
  /// Takes the results of measured configs, in the order of measurement.
  virtual void observe(std::span<const Observed> results) = 0;
};

}  // namespace lehr
