// The knobs and rules of one kernel family. Legal by construction: rules act while sampling and moving, and
// the full product is never enumerated.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/rng.h"
#include "space/config.h"
#include "space/point.h"

namespace lehr {

/// The values of a schedule's members, in order, without the type of its struct (space/knobs.h), which holds
/// 64-bit integers only. Each knob is one of them, at a place of its own. Where rules ask, knobs that come
/// later, and members that are no knobs of this space, have the values that the struct is born with.
class Members {
 public:
  Members() = default;
  template <typename S>
  static Members of(const S& schedule) {
    check<S>();
    Members members;
    std::ranges::copy(std::bit_cast<Array<S>>(schedule), members.values_.begin());
    return members;
  }
  template <typename S>
  S as() const {
    check<S>();
    Array<S> values;
    std::copy_n(values_.begin(), values.size(), values.begin());
    return std::bit_cast<S>(values);
  }
  std::int64_t operator[](std::size_t place) const { return values_[place]; }
  std::int64_t& operator[](std::size_t place) { return values_[place]; }

 private:
  template <typename S>
  using Array = std::array<std::int64_t, sizeof(S) / sizeof(std::int64_t)>;
  template <typename S>
  static constexpr void check() {
    static_assert(std::is_trivially_copyable_v<S> && sizeof(Array<S>) == sizeof(S), "64-bit integers only");
    static_assert(sizeof(S) <= sizeof(Members), "more members than kMostKnobs");
  }

  std::array<std::int64_t, kMostKnobs> values_ = {};
};

/// A predicate over the knobs up to one of them.
using MembersTest = std::function<bool(const Members&)>;

/// What a knob's value and those before it must not be together.
struct Rule {
  std::string sentence;  ///< what a config that breaks it does wrong, e.g. "needs more than 48 KiB of memory"
  MembersTest forbids;
};

/// One tunable. Values are ordered: neighbouring values are one step apart.
struct Knob {
  std::string name;
  std::string meaning;               ///< one line with its unit
  std::vector<std::int64_t> values;  ///< all that it can take, whatever the knobs before it (distinct, some)
  std::size_t place = 0;             ///< of its member
  MembersTest only;  ///< of a dependent knob: whether the value goes with the knobs before it; else empty
  std::vector<Rule> rules;  ///< asked as soon as it has a value, in this order
};

/// Described once (space/knobs.h says how), then only read. Of a Point it reads and writes the knobs alone:
/// the number of the family is the Space's.
class FamilySpace {
 public:
  /// `unset`: what members are before any knob has a value. Names (of families and knobs) hold letters,
  /// digits and "_.:-" only, so that texts parse back; CHECKed.
  explicit FamilySpace(std::string family, const Members& unset = {});

  /// Adds a knob. CHECKs: a new name and place, at least one value, distinct values, no more than kMostKnobs
  /// knobs and 65 535 values.
  void knob(std::size_t place, std::string_view name, std::string_view meaning,
            std::vector<std::int64_t> values);
  /// Makes the last knob a dependent one: its values are those of which `goes` says so, which may be none (a
  /// dead end). Moves take the nearest of them.
  void only(MembersTest goes);
  /// Forbids points, as soon as the last knob so far has its value. `when` must not depend on later knobs
  /// (read_ahead() finds out); why_invalid() says `sentence`.
  void forbid(std::string_view sentence, MembersTest when);

  /// Adds a knob at a place behind the others, 0 until it has a value, and answers the place: for a family
  /// without a struct, as a list is.
  std::size_t add(std::string_view name, std::string_view meaning, std::vector<std::int64_t> values);

  /// From now on sample() and draw() take one of `points` instead of drawing knob by knob: for a family that
  /// is a list (listed_family). The caller sees to it that they are exactly the valid ones. CHECKs that there
  /// is one.
  void sample_from(std::vector<Point> points);

  /// From now on sample() and draw() begin with one of the valid prefixes of a length at which there are at
  /// most `most`, and draw the other knobs only: fewer draws are rejected, and sampling stays uniform. Does
  /// nothing after sample_from(). To be called when all knobs and rules are there.
  void list_prefixes(std::size_t most);

  const std::string& family() const { return family_; }
  const std::vector<Knob>& knobs() const { return knobs_; }

  /// nullopt if `config` is one of this family, else the reason why not.
  std::optional<std::string> why_invalid(const Config& config) const;
  /// The point of a config; nullopt where why_invalid() has a reason.
  std::optional<Point> find(const Config& config) const;
  Config config_of(const Point& point) const;
  Members members_of(const Point& point) const;
  /// Of each knob by its name, valid or not. CHECKs that the config has all of them.
  Members members_of(const Config& config) const;
  /// The config of a schedule, which need not be valid.
  Config config_of(const Members& schedule) const;
  /// The valid config that is nearest to a schedule: each knob takes the allowed value closest to the wanted
  /// one that leaves a valid completion. CHECKs that there is one.
  Config nearest(const Members& wanted) const;

  /// Whether the value of knob `index` goes with those before it, and they break none of its rules.
  bool allows(const Point& point, std::size_t index) const;
  /// Whether all its values are allowed: why_invalid() without its text.
  bool contains(const Point& point) const;
  /// A uniformly distributed valid point. Rejection on prefixes: each knob (behind the listed prefix) is
  /// drawn from all its values, and the draw starts again at the first one that is not allowed. nullopt when
  /// 400 000 draws found none.
  std::optional<Point> sample(Rng& rng) const;
  /// The positions of the values that knob `index` may take after those before it; rules not asked.
  std::vector<std::uint16_t> choices(const Point& point, std::size_t index) const;
  /// Makes `point` valid again after knob `changed` got a value that goes with those before it: each later
  /// knob whose value no longer does moves to the nearest that does (by position; a tie goes to the earlier).
  /// false if a knob has none left or a rule is broken.
  bool repair(Point& point, std::size_t changed) const;
  /// Number of points that draw() draws from: of the unconstrained product, of the list, or the listed
  /// prefixes times the product of the other knobs (as a double: it may exceed 2^64).
  double product_size() const;
  /// One draw of sample(): false if it was rejected, and `point` means nothing then. Its acceptance rate is
  /// the valid share of the product.
  bool draw(Rng& rng, Point& point) const;

  /// What a test asks: the knob whose dependency, or the sentence whose rule, answers otherwise for `point`
  /// where the knobs behind it have the values of `others`. nullopt: each is asked where it knows enough.
  std::optional<std::string> read_ahead(const Point& point, const Point& others) const;

 private:
  /// The members after the first `count` knobs.
  Members members_after(const Point& point, std::size_t count) const;
  void set(Members& members, const Point& point, std::size_t index) const {
    members[knobs_[index].place] = knobs_[index].values[point.knobs[index]];
  }
  /// Whether the value that knob `index` has goes with those before it.
  bool goes(std::size_t index, const Members& members) const;
  /// The first rule of knob `index` that is broken, or nullptr.
  const Rule* broken(std::size_t index, const Members& members) const;
  /// `config` as a point, or what is wrong with it.
  std::optional<std::string> read(const Config& config, Point& point) const;

  std::string family_;
  Members unset_;
  std::vector<Knob> knobs_;
  std::vector<Point> starts_;     // what draws begin with; empty: with nothing
  std::size_t start_length_ = 0;  // knobs that have their value there
};

/// A family whose valid configs are exactly `points`, each with one value per knob of `names`: what a table
/// of measurements can answer. A knob's superset is its values in `points`, ascending. Each knob depends on
/// the ones before it, so that moves lead from point to point. CHECKs: at least one point, lengths agree, and
/// what FamilySpace::knob() does.
FamilySpace listed_family(std::string family, const std::vector<std::string>& names,
                          std::vector<std::vector<std::int64_t>> points);

/// Powers of two from `first` to `last`, both included.
std::vector<std::int64_t> powers_of_two(std::int64_t first, std::int64_t last);

}  // namespace lehr
