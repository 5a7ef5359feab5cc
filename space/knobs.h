// A family's schedules, described once: a struct of 64-bit integers, and one function that visits its knobs.
//
//   struct Schedule {  // the initialisers are what a knob is where a workload has none
//     std::int64_t threads = 1, split = 0, mr = 1;
//   };
//   void knobs(Knobs<Schedule>& k) {
//     k.knob(&Schedule::threads, "threads", "CPU threads", {1, 8});
//     k.knob(&Schedule::split, "split", "threads share out 0: rows, 1: columns", {0, 1});
//     k.only([](const Schedule& s) { return s.split == 0 || s.threads > 1; });
//     k.knob(&Schedule::mr, "mr", "rows of C in registers", {1, 2, 4});
//     k.forbid("more threads than tiles", [](const Schedule& s) { return 64 / s.mr < s.threads; });
//   }
//
// The space, the schedule that a config is, and the config of a schedule come from that function.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "space/config.h"
#include "space/space.h"

namespace lehr {

/// A schedule's members in order, as a Point has them.
template <typename S>
using Places = std::array<std::int64_t, sizeof(S) / sizeof(std::int64_t)>;

template <typename S>
Places<S> places_of(const S& schedule) {
  static_assert(std::is_trivially_copyable_v<S> && sizeof(Places<S>) == sizeof(S), "64-bit integers only");
  return std::bit_cast<Places<S>>(schedule);
}

/// The number of a member.
template <typename S>
std::size_t place_of(std::int64_t S::*member) {
  S all_zero = std::bit_cast<S>(Places<S>{});
  all_zero.*member = 1;
  const Places<S> places = places_of(all_zero);
  return static_cast<std::size_t>(std::ranges::find(places, 1) - places.begin());
}

/// What a function that describes schedules visits the knobs with.
template <typename S>
class Knobs {
 public:
  /// Adds to `space`, which began with the places of S{}.
  explicit Knobs(FamilySpace& space) : space_(space) {}

  /// The next knob. Its name is stored with configs, so it stays. `values` are all that it can take, ordered:
  /// neighbours are one step apart.
  void knob(std::int64_t S::*member, std::string_view name, std::string_view meaning,
            std::vector<std::int64_t> values) {
    space_.knob(place_of(member), name, meaning, std::move(values));
  }
  /// Of the last knob's values, those go with the knobs before it of which `goes(schedule)` is true. Moves
  /// take the nearest one that does.
  template <typename Test>
  void only(Test goes) {
    space_.only([goes](const Point& point) { return goes(point.as<S>()); });
  }
  /// What no schedule may be, asked as soon as the last knob so far has its value: later ones have their
  /// initialisers, on which `when(schedule)` must not depend. `sentence` says what is wrong with one, without
  /// a full stop.
  template <typename Test>
  void forbid(std::string_view sentence, Test when) {
    space_.forbid(sentence, [when](const Point& point) { return when(point.as<S>()); });
  }

 private:
  FamilySpace& space_;
};

/// The space that `describe(Knobs<S>&)` describes.
template <typename S, typename Describe>
FamilySpace described_space(std::string family, const Describe& describe) {
  const Places<S> unset = places_of(S{});
  FamilySpace space(std::move(family), {unset.begin(), unset.end()});
  Knobs<S> knobs(space);
  describe(knobs);
  return space;
}

/// The schedule that a config is, valid or not. CHECKs that it has all knobs of the space.
template <typename S>
S schedule_of(const FamilySpace& space, const Config& config) {
  return Point(space.places_of(config)).as<S>();
}

/// The config of a schedule, which need not be valid.
template <typename S>
Config config_of(const FamilySpace& space, const S& schedule) {
  return space.config_of(space.values_at(places_of(schedule)));
}

/// The valid config that is nearest to a schedule (FamilySpace::nearest).
template <typename S>
Config nearest_config(const FamilySpace& space, const S& wanted) {
  return space.nearest(space.values_at(places_of(wanted)));
}

}  // namespace lehr
