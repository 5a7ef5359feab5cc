// The search space of one workload: for each kernel family its knobs, with ordered values, and the
// closed-form rules between them. Legal by construction: rules act while sampling and moving, and the full
// product is never enumerated.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "space/config.h"

namespace lehr {

/// The values of a family's knobs, each at a place of its own: the members, in order, of a struct whose
/// members are the knobs (space/knobs.h). Where rules ask, knobs that come later, and members that are no
/// knobs of this space, have the values that the struct is born with.
class Point {
 public:
  explicit Point(std::span<const std::int64_t> places) : places_(places) {}
  std::int64_t operator[](std::size_t place) const { return places_[place]; }
  /// As the struct, which holds 64-bit integers only.
  template <typename S>
  S as() const {
    std::array<std::int64_t, sizeof(S) / sizeof(std::int64_t)> members;
    std::copy_n(places_.begin(), members.size(), members.begin());
    return std::bit_cast<S>(members);
  }

 private:
  std::span<const std::int64_t> places_;
};

/// A predicate over the knobs up to one of them.
using PointTest = std::function<bool(const Point&)>;

/// What a knob's value and those before it must not be together.
struct Rule {
  std::string sentence;  ///< what a config that breaks it does wrong, e.g. "needs more than 48 KiB of memory"
  PointTest forbids;
};

/// One tunable. Values are ordered: neighbouring values are one step apart.
struct Knob {
  InternedText name;
  std::string meaning;               ///< one line with its unit
  std::vector<std::int64_t> values;  ///< all that it can take, whatever the knobs before it (distinct, some)
  std::size_t place = 0;             ///< in a Point
  PointTest only;  ///< of a dependent knob: whether the value goes with the knobs before it; else empty
  std::vector<Rule> rules;  ///< asked as soon as it has a value, in this order
};

/// The knobs and rules of one kernel family. Described once (space/knobs.h says how), then only read.
class FamilySpace {
 public:
  /// `unset`: what Points hold before any knob has a value. Names (of families and knobs) hold letters,
  /// digits and "_.:-" only, so that texts parse back; CHECKed.
  explicit FamilySpace(std::string family, std::vector<std::int64_t> unset = {});

  /// Adds a knob. CHECKs: a new name and place, at least one value, distinct values.
  void knob(std::size_t place, std::string_view name, std::string_view meaning,
            std::vector<std::int64_t> values);
  /// Makes the last knob a dependent one: its values are those of which `goes` says so, which may be none (a
  /// dead end). Moves take the nearest of them.
  void only(PointTest goes);
  /// Forbids points, as soon as the last knob so far has its value. `when` must not depend on later knobs
  /// (read_ahead() finds out); why_invalid() says `sentence`.
  void forbid(std::string_view sentence, PointTest when);

  /// Adds a knob at a place behind the others, 0 until it has a value, and answers the place: for a family
  /// without a struct, as a list is.
  std::size_t add(std::string_view name, std::string_view meaning, std::vector<std::int64_t> values);

  /// From now on sample() and draw() take one of `points` instead of drawing knob by knob: for a family that
  /// is a list (listed_family). The caller sees to it that they are exactly the valid configs. CHECKs that
  /// there is one.
  void sample_from(std::vector<std::vector<std::int64_t>> points);

  /// From now on sample() and draw() begin with one of the valid prefixes of a length at which there are at
  /// most `most`, and draw the other knobs only: fewer draws are rejected, and sampling stays uniform. Does
  /// nothing after sample_from(). To be called when all knobs and rules are there.
  void list_prefixes(std::size_t most);

  const std::string& family() const { return family_; }
  const std::vector<Knob>& knobs() const { return knobs_; }

  /// Values that knob `index` may take after `prefix` (which holds the knobs before it); rules not asked.
  std::vector<std::int64_t> values_after(std::span<const std::int64_t> prefix, std::size_t index) const;
  /// The sentence of the first rule that the last value of `prefix` breaks, else nullopt.
  std::optional<std::string> violation(std::span<const std::int64_t> prefix) const;
  /// True if no rule speaks against the last value of `prefix`: violation() without its text.
  bool holds(std::span<const std::int64_t> prefix) const;

  /// nullopt if `config` is a point of this family, else the reason why not.
  std::optional<std::string> why_invalid(const Config& config) const;
  /// Whether `values`, one of each knob's in order, are a point of this family: why_invalid() without its
  /// text and without a Config.
  bool contains(std::span<const std::int64_t> values) const;
  /// A uniformly distributed valid config. Rejection on prefixes: each knob (behind the listed prefix) is
  /// drawn from all its values, and the draw starts again at the first one that is not allowed. nullopt when
  /// 400 000 draws found none.
  std::optional<Config> sample(Rng& rng) const;
  /// `values` as a Config of this family (one per knob, in order).
  Config config_of(std::span<const std::int64_t> values) const;
  /// The inverse of config_of. CHECKs family and knob names.
  std::vector<std::int64_t> values_of(const Config& config) const;
  /// The knobs' values, in order, of what a Point holds, and what it holds of a config: of each knob by its
  /// name, valid or not. CHECKs that the config has all of them.
  std::vector<std::int64_t> values_at(std::span<const std::int64_t> places) const;
  std::vector<std::int64_t> places_of(const Config& config) const;
  /// The valid config whose knobs, in order, are nearest to `wanted`: each takes the allowed value closest to
  /// the wanted one that leaves a valid completion. CHECKs that there is one.
  Config nearest(std::span<const std::int64_t> wanted) const;
  /// Makes `values` valid again after knob `changed` got a value that its prefix allows: each later knob
  /// whose value is no longer allowed moves to the nearest allowed one (by position in its values; a tie
  /// goes to the earlier). false if a knob has no allowed value left or a rule is broken.
  bool repair(std::span<std::int64_t> values, std::size_t changed) const;
  /// Number of points that draw() draws from: of the unconstrained product, of the list, or the listed
  /// prefixes times the product of the other knobs (as a double: it may exceed 2^64).
  double product_size() const;
  /// One draw of sample() into `values`: false if it was rejected, and `values` means nothing then. Its
  /// acceptance rate is the valid share of the product.
  bool draw(Rng& rng, std::vector<std::int64_t>& values) const;

  /// What a test asks: the knob whose dependency, or the sentence whose rule, answers otherwise for `values`
  /// where the knobs behind it have the values of `others`. nullopt: each is asked where it knows enough.
  std::optional<std::string> read_ahead(std::span<const std::int64_t> values,
                                        std::span<const std::int64_t> others) const;

 private:
  /// What a Point holds after `prefix`.
  std::vector<std::int64_t> places_of(std::span<const std::int64_t> prefix) const;
  /// Whether the value that knob `index` has in `places` goes with those before it.
  bool goes(std::size_t index, std::span<const std::int64_t> places) const;
  /// The first rule of knob `index` that `places` breaks, or nullptr.
  const Rule* broken(std::size_t index, std::span<const std::int64_t> places) const;
  std::vector<std::int64_t> values_in(std::vector<std::int64_t>& places, std::size_t index) const;
  bool draw_into(Rng& rng, std::vector<std::int64_t>& values, std::vector<std::int64_t>& places) const;

  std::string family_;
  std::vector<std::int64_t> unset_;
  std::vector<Knob> knobs_;
  std::vector<std::vector<std::int64_t>> starts_;  // what draws begin with, of one length; empty: nothing
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
