// The search space of one workload: the union of the families that serve it. The search draws points from it
// and moves between neighbouring points.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "space/family_space.h"

namespace lehr {

/// A union of families. The family is the first knob.
class Space {
 public:
  /// Prepares cheap sampling. Lists the valid prefixes of each family's first knobs (about a millisecond),
  /// and samples each family once, with a fixed seed. A family in which 400 000 draws find no valid config is
  /// never sampled later: it costs some milliseconds here, and nothing in a search. CHECKs that the families'
  /// names differ.
  explicit Space(std::vector<FamilySpace> families);

  const std::vector<FamilySpace>& families() const { return families_; }
  /// Returns nullptr if no family has that name.
  const FamilySpace* family(std::string_view name) const;

  std::optional<std::string> why_invalid(const Config& config) const;
  bool contains(const Config& config) const { return find(config).has_value(); }
  /// Returns the point of a config; nullopt where why_invalid() has a reason.
  std::optional<Point> find(const Config& config) const;
  /// Does the same as find(), but throws Error(kUser) with the reason.
  Point point_of(const Config& config) const;
  /// Returns the config of a point of this space.
  Config config_of(const Point& point) const { return families_[point.family].config_of(point); }

  /// Draws a family (uniformly), and then one of its valid points (uniformly), so that small families are
  /// drawn as often as large ones. Throws Error(kNotFound) if no family has a valid point that sampling can
  /// find.
  Point sample(Rng& rng) const;
  /// Does the same as sample(), but returns nullopt instead of throwing.
  std::optional<Point> try_sample(Rng& rng) const;
  /// Returns all valid points that differ from `point` by one step of one knob. If that makes the value of a
  /// dependent knob invalid, the knob moves to its nearest valid value. The points are distinct, and do not
  /// include `point`. `point` must be valid, here and below.
  std::vector<Point> neighbours(const Point& point) const;
  /// Returns a valid point in which one knob, drawn at random, has another value. Half of the moves are one
  /// step; the others go to any other value. Now and then (1 in 64, if there is more than one family) it is a
  /// new sample of another family. Returns nullopt if 32 attempts found no valid move.
  std::optional<Point> mutate(const Point& point, Rng& rng) const;

 private:
  /// Sets point.family to the position of `family`, which must be in families_.
  std::optional<Point> numbered(const FamilySpace& family, std::optional<Point> point) const;
  std::optional<Point> sample_family(std::size_t family, Rng& rng) const;

  std::vector<FamilySpace> families_;
  std::vector<std::size_t> sampled_;  // positions of the families in which sampling found a point
};

/// Draws up to `count` distinct points, from one family if `family` is given. Returns fewer if many draws in
/// a row give no new point.
std::vector<Point> distinct_samples(const Space& space, std::optional<std::ptrdiff_t> family,
                                    std::size_t count, Rng& rng);

/// Walks over a space in lexicographic order, and skips invalid subtrees. For grid search and exhaustive
/// tests.
class GridCursor {
 public:
  explicit GridCursor(const Space& space) : space_(&space) {}  ///< borrows `space`
  std::optional<Point> next();                                 ///< nullopt at the end

 private:
  const Space* space_;
  // The next point to visit; it is set up to knob depth_. A position after a knob's last value means that the
  // knob has no more values.
  Point at_;
  std::size_t depth_ = 0;
};

}  // namespace lehr
