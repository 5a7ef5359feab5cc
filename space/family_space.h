// The knobs and rules of one kernel family. Rules are applied while points are drawn and moved, so that every
// point is valid and the full product of values is never enumerated.
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

/// A predicate over one knob and the knobs before it.
using MembersTest = std::function<bool(const Members&)>;

/// A forbidden combination of a knob's value with the values of knobs before it.
struct Rule {
  /// Fault of a config that breaks the rule, e.g. "needs more than 48 KiB of memory".
  std::string sentence;
  MembersTest forbids;
};

/// One tunable parameter. Its values are ordered: neighbouring values are one step apart.
struct Knob {
  std::string name;
  std::string meaning;  ///< one line, with the unit of the values
  /// All values that the knob can take, whatever values the knobs before it have. Distinct; at least one.
  std::vector<std::int64_t> values;
  std::size_t place = 0;  ///< position of the knob's member in Members
  /// For a dependent knob: whether its value is allowed after the values of the knobs before it; else empty.
  MembersTest only;
  std::vector<Rule> rules;  ///< checked in this order as soon as the knob has a value
};

/// The space of one family. It is described once (see space/knobs.h), and only read afterwards. Its functions
/// use only the knobs of a Point: the number of the family is the Space's.
class FamilySpace {
 public:
  /// `unset` holds the members' values before any knob has a value. Names (of families and knobs) hold
  /// letters, digits and "_.:-" only, so that texts parse back; CHECKed.
  explicit FamilySpace(std::string family, const Members& unset = {});

  /// Adds a knob. CHECKs that its name and position are new, that it has at least one value and that the
  /// values are distinct, and that there are at most kMostKnobs knobs and 65 535 values.
  void knob(std::size_t place, std::string_view name, std::string_view meaning,
            std::vector<std::int64_t> values);
  /// Makes the last knob dependent: it may have only values for which `goes` is true. There may be no such
  /// value (a dead end). A move that makes its value invalid takes the nearest valid value.
  void only(MembersTest goes);
  /// Adds a rule that is checked as soon as the last knob added so far has its value. `when` must not depend
  /// on later knobs (read_ahead() finds violations). why_invalid() returns `sentence` for points that break
  /// the rule.
  void forbid(std::string_view sentence, MembersTest when);

  /// Adds a knob at the next free position, and returns that position. Its member is 0 until it has a value.
  /// For a family without a struct, such as a list.
  std::size_t add(std::string_view name, std::string_view meaning, std::vector<std::int64_t> values);

  /// Makes sample() and draw() choose one of `points` from now on, instead of drawing knob by knob. For a
  /// family that is a list of points (listed_family()). The caller ensures that `points` are exactly the
  /// valid points. CHECKs that there is at least one.
  void sample_from(std::vector<Point> points);

  /// Makes sample() and draw() begin with a valid prefix from a list, and draw only the remaining knobs.
  /// Fewer draws are then rejected, and sampling stays uniform. The prefixes are as long as possible with at
  /// most `most` prefixes in the list. Does nothing after sample_from(). Must be called when all knobs and
  /// rules have been added.
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
  /// Returns the valid config that is nearest to a schedule. Each knob gets the value closest to the wanted
  /// one, among the allowed values that can be completed to a valid config. CHECKs that there is one.
  Config nearest(const Members& wanted) const;

  /// Returns whether the value of knob `index` is allowed after the values of the knobs before it, and no
  /// rule of the knob is broken.
  bool allows(const Point& point, std::size_t index) const;
  /// Returns whether all values are allowed. Does the same as why_invalid(), but without a text.
  bool contains(const Point& point) const;
  /// Returns a uniformly distributed valid point, by rejection of prefixes: each knob after the listed prefix
  /// is drawn from all its values, and the draw starts again at the first value that is not allowed. Returns
  /// nullopt if 400 000 draws found no valid point.
  std::optional<Point> sample(Rng& rng) const;
  /// Returns the positions of the values that knob `index` may have after the values of the knobs before it.
  /// Does not check rules.
  std::vector<std::uint16_t> choices(const Point& point, std::size_t index) const;
  /// Makes `point` valid again after knob `changed` has got a value that is allowed after the knobs before
  /// it. Each later knob whose value is no longer allowed moves to the nearest allowed value (by position; of
  /// two equally near ones to the earlier). Returns false if a knob has no allowed value or a rule is broken.
  bool repair(Point& point, std::size_t changed) const;
  /// Returns the number of points among which draw() chooses: the size of the unconstrained product, of the
  /// list, or the number of listed prefixes times the product of the other knobs. (A double, because it may
  /// exceed 2^64.)
  double product_size() const;
  /// Makes one draw for sample(). Returns false if it was rejected; `point` is then undefined. The rate of
  /// accepted draws is the fraction of valid points among product_size().
  bool draw(Rng& rng, Point& point) const;

  /// Finds a dependency or a rule of `point` that depends on later knobs, i.e. one whose result changes when
  /// the knobs after it take the values of `others`. Returns the knob's name or the rule's sentence; nullopt
  /// without such a knob or rule. For tests.
  std::optional<std::string> read_ahead(const Point& point, const Point& others) const;

 private:
  /// Returns the members when only the first `count` knobs have their values.
  Members members_after(const Point& point, std::size_t count) const;
  void set(Members& members, const Point& point, std::size_t index) const {
    members[knobs_[index].place] = knobs_[index].values[point.knobs[index]];
  }
  /// Returns whether the value of knob `index` is allowed after the values of the knobs before it.
  bool goes(std::size_t index, const Members& members) const;
  /// Returns the first broken rule of knob `index`; nullptr if no rule is broken.
  const Rule* broken(std::size_t index, const Members& members) const;
  /// Reads `config` into `point`. Returns what is wrong with the config; nullopt if nothing is wrong.
  std::optional<std::string> read(const Config& config, Point& point) const;

  std::string family_;
  Members unset_;
  std::vector<Knob> knobs_;
  std::vector<Point> starts_;     // prefixes that draws begin with; empty: draws begin with the first knob
  std::size_t start_length_ = 0;  // number of knobs in these prefixes
};

/// Makes a family whose valid configs are exactly `points`, such as the configs of a table of measurements. A
/// point has one value for each knob of `names`. A knob's values are those that occur in `points`, ascending.
/// Each knob depends on the knobs before it, so that moves lead from point to point. CHECKs that there is at
/// least one point and that lengths agree, and everything that FamilySpace::knob() CHECKs.
FamilySpace listed_family(std::string family, const std::vector<std::string>& names,
                          std::vector<std::vector<std::int64_t>> points);

/// Returns the powers of two from `first` to `last`, both included.
std::vector<std::int64_t> powers_of_two(std::int64_t first, std::int64_t last);

}  // namespace lehr
