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

/// The values of a schedule's members, in order, without the type of its struct (space/knobs.h). The struct
/// holds 64-bit integers only. Each knob is one member, at a position of its own. When a rule is checked,
/// later knobs, and members that are not knobs of this space, have the struct's initial values.
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

/// A predicate over the knobs up to a certain one.
using MembersTest = std::function<bool(const Members&)>;

/// A combination of a knob's value and those before it that is forbidden.
struct Rule {
  /// Fault of a config that breaks it, e.g. "needs more than 48 KiB of memory".
  std::string sentence;
  MembersTest forbids;
};

/// One tunable. Values are ordered: neighbouring values are one step apart.
struct Knob {
  std::string name;
  std::string meaning;  ///< one line with its unit
  /// All values that it can take, whatever the knobs before it: distinct, at least one.
  std::vector<std::int64_t> values;
  std::size_t place = 0;  ///< position of its member
  MembersTest only;  ///< for a dependent knob: whether its value goes with the knobs before it; else empty
  std::vector<Rule> rules;  ///< checked as soon as it has a value, in this order
};

/// Described once (space/knobs.h says how), then only read. It reads and writes only the knobs of a Point:
/// the number of the family belongs to the Space.
class FamilySpace {
 public:
  /// `unset` holds the members' values before any knob has a value. Names (of families and knobs) hold
  /// letters, digits and "_.:-" only, so that texts parse back; CHECKed.
  explicit FamilySpace(std::string family, const Members& unset = {});

  /// Adds a knob. CHECKs that its name and position are new, that it has at least one value and that the
  /// values are distinct, and that there are at most kMostKnobs knobs and 65 535 values.
  void knob(std::size_t place, std::string_view name, std::string_view meaning,
            std::vector<std::int64_t> values);
  /// Makes the last knob a dependent one: it may only have values for which `goes` is true. There may be no
  /// such value (a dead end). Moves take the nearest one.
  void only(MembersTest goes);
  /// Forbids points as soon as the last knob so far has its value. `when` must not depend on later knobs
  /// (read_ahead() finds out). why_invalid() then returns `sentence`.
  void forbid(std::string_view sentence, MembersTest when);

  /// Adds a knob at a position behind the others, and returns that position. Its member is 0 until it has a
  /// value. For a family without a struct, such as a list.
  std::size_t add(std::string_view name, std::string_view meaning, std::vector<std::int64_t> values);

  /// Makes sample() and draw() take one of `points` from now on, instead of drawing knob by knob: for a
  /// family that is a list (listed_family). The caller ensures that they are exactly the valid ones. CHECKs
  /// that there is at least one.
  void sample_from(std::vector<Point> points);

  /// Makes sample() and draw() begin with a listed valid prefix from now on, and draw only the other knobs:
  /// fewer draws are rejected, and sampling stays uniform. The prefixes have a length at which there are at
  /// most `most`. Does nothing after sample_from(). To be called when all knobs and rules are there.
  void list_prefixes(std::size_t most);

  const std::string& family() const { return family_; }
  const std::vector<Knob>& knobs() const { return knobs_; }

  /// Returns nullopt if `config` is a valid config of this family, else the reason why not.
  std::optional<std::string> why_invalid(const Config& config) const;
  /// Returns the point of a config; nullopt where why_invalid() has a reason.
  std::optional<Point> find(const Config& config) const;
  Config config_of(const Point& point) const;
  Members members_of(const Point& point) const;
  /// Reads the value of each knob by its name, valid or not. CHECKs that the config has all knobs.
  Members members_of(const Config& config) const;
  /// Returns the config of a schedule, which need not be valid.
  Config config_of(const Members& schedule) const;
  /// Returns the valid config that is nearest to a schedule. Each knob takes, of the allowed values that
  /// leave a valid completion, the one closest to the wanted value. CHECKs that there is one.
  Config nearest(const Members& wanted) const;

  /// Returns whether the value of knob `index` goes with those before it, and they break none of its rules.
  bool allows(const Point& point, std::size_t index) const;
  /// Returns whether all values are allowed: why_invalid() without its text.
  bool contains(const Point& point) const;
  /// Returns a uniformly distributed valid point, by rejection on prefixes: each knob (behind the listed
  /// prefix) is drawn from all its values, and the draw starts again at the first one that is not allowed.
  /// Returns nullopt when 400 000 draws found no valid point.
  std::optional<Point> sample(Rng& rng) const;
  /// Returns the positions of the values that knob `index` may take after those before it. Does not check
  /// rules.
  std::vector<std::uint16_t> choices(const Point& point, std::size_t index) const;
  /// Makes `point` valid again after knob `changed` got a value that goes with those before it. Each later
  /// knob whose value no longer does moves to the nearest that does (by position; a tie goes to the earlier).
  /// Returns false if a knob has no such value or a rule is broken.
  bool repair(Point& point, std::size_t changed) const;
  /// Returns the number of points that draw() draws from: of the unconstrained product, of the list, or of
  /// the listed prefixes times the product of the other knobs (as a double: it may exceed 2^64).
  double product_size() const;
  /// Makes one draw of sample(). Returns false if it was rejected; `point` then means nothing. The acceptance
  /// rate is the valid share of the product.
  bool draw(Rng& rng, Point& point) const;

  /// Finds a dependency or rule of `point` that depends on later knobs: its result changes when the knobs
  /// behind it take the values of `others`. Returns the knob's name or the rule's sentence, else nullopt. For
  /// tests.
  std::optional<std::string> read_ahead(const Point& point, const Point& others) const;

 private:
  /// Returns the members after the first `count` knobs.
  Members members_after(const Point& point, std::size_t count) const;
  void set(Members& members, const Point& point, std::size_t index) const {
    members[knobs_[index].place] = knobs_[index].values[point.knobs[index]];
  }
  /// Returns whether the value of knob `index` goes with those before it.
  bool goes(std::size_t index, const Members& members) const;
  /// Returns the first rule of knob `index` that is broken, or nullptr.
  const Rule* broken(std::size_t index, const Members& members) const;
  /// Reads `config` into `point`. Returns what is wrong with it, else nullopt.
  std::optional<std::string> read(const Config& config, Point& point) const;

  std::string family_;
  Members unset_;
  std::vector<Knob> knobs_;
  std::vector<Point> starts_;     // prefixes that draws begin with; empty: draws begin with the first knob
  std::size_t start_length_ = 0;  // number of knobs in these prefixes
};

/// Makes a family whose valid configs are exactly `points`, each with one value per knob of `names`: the
/// configs of a table of measurements. A knob's values are those in `points`, ascending. Each knob depends on
/// the ones before it, so that moves lead from point to point. CHECKs that there is at least one point, that
/// lengths agree, and what FamilySpace::knob() does.
FamilySpace listed_family(std::string family, const std::vector<std::string>& names,
                          std::vector<std::vector<std::int64_t>> points);

/// Returns the powers of two from `first` to `last`, both included.
std::vector<std::int64_t> powers_of_two(std::int64_t first, std::int64_t last);

}  // namespace lehr
