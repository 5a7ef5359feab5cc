// The search space of one workload: the union of the families that can serve it, sampled and moved in.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "space/family_space.h"

namespace lehr {

/// The family is the first knob.
class Space {
 public:
  /// Lists each family's first knobs' valid prefixes, for cheap sampling (about a millisecond), and samples
  /// it once (with a fixed seed): one in which 400 000 draws find no valid config is never sampled later, so
  /// that it costs some milliseconds here and nothing in a search. CHECKs that names differ.
  explicit Space(std::vector<FamilySpace> families);

  const std::vector<FamilySpace>& families() const { return families_; }
  /// nullptr: there is none of that name.
  const FamilySpace* family(std::string_view name) const;

  std::optional<std::string> why_invalid(const Config& config) const;
  bool contains(const Config& config) const { return find(config).has_value(); }
  /// The point of a config; nullopt where why_invalid() has a reason.
  std::optional<Point> find(const Config& config) const;
  /// As find(), but throws Error(kUser) with the reason.
  Point point_of(const Config& config) const;
  /// Of a point of this space.
  Config config_of(const Point& point) const { return families_[point.family].config_of(point); }

  /// Family first (uniform), then uniform among that family's valid points, so that a small family is not
  /// drowned by a large one. Throws Error(kNotFound) when no family has a valid point that sampling can find.
  Point sample(Rng& rng) const;
  /// As sample(), but nullopt instead of the Error.
  std::optional<Point> try_sample(Rng& rng) const;
  /// All valid points that differ from `point` by one step of one knob; a dependent knob that is no longer
  /// allowed moves to its nearest allowed value. Distinct, without `point` itself. `point` must be valid,
  /// here and below.
  std::vector<Point> neighbours(const Point& point) const;
  /// A valid point that differs in one knob drawn at random: half of the moves are one step, half any other
  /// value; now and then (1 in 64, when there is more than one family) a fresh sample of another family.
  /// nullopt when 32 attempts found no valid move.
  std::optional<Point> mutate(const Point& point, Rng& rng) const;

 private:
  /// With the number of its family, which is one of families_.
  std::optional<Point> numbered(const FamilySpace& family, std::optional<Point> point) const;
  std::optional<Point> sample_family(std::size_t family, Rng& rng) const;

  std::vector<FamilySpace> families_;
  std::vector<std::size_t> sampled_;  // indices of the families that sampling found a point of
};

/// Up to `count` distinct points, of one family where it is named; fewer where many draws in a row bring
/// nothing new.
std::vector<Point> distinct_samples(const Space& space, std::optional<std::ptrdiff_t> family,
                                    std::size_t count, Rng& rng);

/// Walks a space in lexicographic order without enumerating invalid subtrees: grid search, and exhaustive
/// tests.
class GridCursor {
 public:
  explicit GridCursor(const Space& space) : space_(&space) {}  ///< borrows `space`
  std::optional<Point> next();                                 ///< nullopt at the end

 private:
  const Space* space_;
  Point at_;  // what is looked at next, up to knob depth_; a position behind the last value: no more there
  std::size_t depth_ = 0;
};

}  // namespace lehr
