// The search space of one workload: for each kernel family its knobs, with ordered values, and the
// closed-form constraints between them. Legal by construction: constraints act while sampling and moving, and
// the full product is never enumerated.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "space/config.h"

namespace lehr {

/// Position of a knob in its family, as returned by FamilySpace::add.
struct KnobId {
  int index = -1;
};

/// The values chosen so far, in knob order; a constraint or a dependent knob may read the ids that come
/// before it.
class Point {
 public:
  explicit Point(std::span<const std::int64_t> values) : values_(values) {}
  /// CHECKs that the knob comes before the reader: what a later knob holds at this moment means nothing.
  std::int64_t operator[](KnobId id) const {
    const auto index = static_cast<std::size_t>(id.index);
    CHECK(index < values_.size(), "knob {} is read after {} knobs", id.index, values_.size());
    return values_[index];
  }

 private:
  std::span<const std::int64_t> values_;
};

/// One tunable. Values are ordered: neighbouring values are one step apart.
struct Knob {
  InternedText name;
  std::string meaning;               ///< one line with its unit
  std::vector<std::int64_t> values;  ///< all values that it can take, for any prefix (non-empty, distinct)
  /// For a dependent knob: the subset of `values`, in order, that the prefix allows (may be empty = dead
  /// end).
  std::function<std::vector<std::int64_t>(const Point&)> allowed;  ///< empty function: all of `values`
};

/// A predicate over a prefix of the knobs.
struct Constraint {
  std::string reason;  ///< what a violating config does wrong, e.g. "needs more than 48 KiB of shared memory"
  int after = 0;       ///< checked as soon as this knob has its value
  std::function<bool(const Point&)> holds;
};

/// The knobs and constraints of one kernel family.
class FamilySpace {
 public:
  /// Names (of families and knobs) hold letters, digits and "_.:-" only, so that texts parse back; CHECKed.
  explicit FamilySpace(std::string family);

  /// Adds an independent knob. CHECKs: a new name, at least one value, distinct values.
  KnobId add(std::string name, std::string meaning, std::vector<std::int64_t> values);
  /// Adds a knob whose allowed values depend on the knobs before it. `superset` holds all values it can ever
  /// take.
  KnobId add_dependent(std::string name, std::string meaning, std::vector<std::int64_t> superset,
                       std::function<std::vector<std::int64_t>(const Point&)> allowed);
  /// `holds` may read only `reads` (not empty); it is checked as soon as the last of them is chosen.
  void require(std::string reason, std::vector<KnobId> reads, std::function<bool(const Point&)> holds);
  /// From now on sample() and draw() take one of `points` instead of drawing knob by knob: for a family that
  /// is a list (listed_family). The caller sees to it that they are exactly the valid configs. CHECKs that
  /// there is one.
  void sample_from(std::vector<std::vector<std::int64_t>> points);

  /// From now on sample() and draw() begin with one of the valid prefixes of a length at which there are at
  /// most `most`, and draw the other knobs only: fewer draws are rejected, and sampling stays uniform. Does
  /// nothing after sample_from(). To be called when all knobs and constraints are there.
  void list_prefixes(std::size_t most);

  const std::string& family() const { return family_; }
  const std::vector<Knob>& knobs() const { return knobs_; }

  /// Values that knob `index` may take after `prefix` (which holds the knobs before it); constraints not
  /// applied.
  std::vector<std::int64_t> values_after(std::span<const std::int64_t> prefix, std::size_t index) const;
  /// The reason of the first constraint that the last value of `prefix` violates, else nullopt.
  std::optional<std::string> violation(std::span<const std::int64_t> prefix) const;
  /// True if no constraint speaks against the last value of `prefix`: violation() without its text.
  bool holds(std::span<const std::int64_t> prefix) const;

  /// nullopt if `config` is a point of this family, else the reason why not.
  std::optional<std::string> why_invalid(const Config& config) const;
  /// Whether `values`, one of each knob's superset in order, are a point of this family: why_invalid()
  /// without its text and without a Config.
  bool contains(std::span<const std::int64_t> values) const;
  /// A uniformly distributed valid config. Rejection on prefixes: each knob (behind the listed prefix) is
  /// drawn from its superset, and the draw starts again at the first value that is not allowed. nullopt when
  /// 400 000 draws found none.
  std::optional<Config> sample(Rng& rng) const;
  /// `values` as a Config of this family (one per knob, in order).
  Config config_of(std::span<const std::int64_t> values) const;
  /// The inverse of config_of. CHECKs family and knob names.
  std::vector<std::int64_t> values_of(const Config& config) const;
  /// Makes `values` valid again after knob `changed` got a value that its prefix allows: each later knob
  /// whose value is no longer allowed moves to the nearest allowed one (by position in its superset; a tie
  /// goes to the earlier). false if a knob has no allowed value left or a constraint does not hold.
  bool repair(std::span<std::int64_t> values, std::size_t changed) const;
  /// Number of points that draw() draws from: of the unconstrained product, of the list, or the listed
  /// prefixes times the product of the other knobs (as a double: it may exceed 2^64).
  double product_size() const;
  /// One draw of sample() into `values`: false if it was rejected, and `values` means nothing then. Its
  /// acceptance rate is the valid share of the product.
  bool draw(Rng& rng, std::vector<std::int64_t>& values) const;

 private:
  KnobId append(Knob knob);
  /// True if `values` keeps to the subset that knob `values.size() - 1` allows after the values before it.
  bool allows(std::span<const std::int64_t> values) const;

  std::string family_;
  std::vector<Knob> knobs_;
  std::vector<Constraint> constraints_;
  std::vector<std::vector<int>> constraints_after_;  // per knob: indices into constraints_
  std::vector<std::vector<std::int64_t>> starts_;    // what draws begin with, of one length; empty: nothing
};

/// A family whose valid configs are exactly `points`, each with one value per knob of `names`: what a table
/// of measurements can answer. A knob's superset is its values in `points`, ascending. Each knob depends on
/// the ones before it, so that moves lead from point to point. CHECKs: at least one point, lengths agree.
FamilySpace listed_family(std::string family, const std::vector<std::string>& names,
                          std::vector<std::vector<std::int64_t>> points);

/// The factors of `extent` that are <= `limit`, ascending.
std::vector<std::int64_t> factors(std::int64_t extent, std::int64_t limit);
/// Powers of two from `first` to `last`, both included.
std::vector<std::int64_t> powers_of_two(std::int64_t first, std::int64_t last);

/// The union of the families that can serve one workload; the family is the first knob.
class Space {
 public:
  /// Lists each family's first knobs' valid prefixes, for cheap sampling (about a millisecond), and samples
  /// it once (with a fixed seed): one in which 400 000 draws find no valid config is never sampled later, so
  /// that it costs some milliseconds here and nothing in a search. CHECKs that names differ.
  explicit Space(std::vector<FamilySpace> families);

  const std::vector<FamilySpace>& families() const { return families_; }
  const FamilySpace* family(std::string_view name) const;

  std::optional<std::string> why_invalid(const Config& config) const;
  bool contains(const Config& config) const { return !why_invalid(config); }

  /// Family first (uniform), then uniform among that family's valid configs, so that a small family is not
  /// drowned by a large one. Throws Error(kNotFound) when no family has a valid config that sampling can
  /// find.
  Config sample(Rng& rng) const;
  /// As sample(), but nullopt instead of the Error.
  std::optional<Config> try_sample(Rng& rng) const;
  /// All valid configs that differ from `config` by one step of one knob; a dependent knob that is no longer
  /// allowed moves to its nearest allowed value. Distinct, without `config` itself. `config` must be valid,
  /// here and below.
  std::vector<Config> neighbours(const Config& config) const;
  /// A valid config that differs in one knob drawn at random: half of the moves are one step, half any other
  /// value; now and then (1 in 64, when there is more than one family) a fresh sample of another family.
  /// nullopt when 32 attempts found no valid move.
  /// About 1 us: `allowed` runs only for dependent knobs at and after the changed one.
  std::optional<Config> mutate(const Config& config, Rng& rng) const;
  /// A child that takes each knob from `a` or `b` at random (same family), repaired like neighbours; nullopt
  /// if invalid.
  std::optional<Config> crossover(const Config& a, const Config& b, Rng& rng) const;

  /// Estimated number of valid configs: product size times the share of valid draws over `draws` draws. Rough
  /// by design.
  double size_estimate(Rng& rng, int draws = 2000) const;

 private:
  const FamilySpace& family_of(const Config& config) const;

  std::vector<FamilySpace> families_;
  std::vector<std::size_t> sampled_;  // indices of the families that sampling found a config of
};

/// Walks a space in lexicographic order without enumerating invalid subtrees: grid search, and exhaustive
/// tests.
class GridCursor {
 public:
  explicit GridCursor(const Space& space);  ///< borrows `space`
  std::optional<Config> next();             ///< nullopt at the end

 private:
  bool descend();  // pushes the choices of the next depth; false if there is no further depth

  const Space* space_;
  std::size_t family_ = 0;
  std::vector<std::vector<std::int64_t>> choices_;  // remaining values per depth, reversed
  std::vector<std::int64_t> prefix_;
};

}  // namespace lehr
