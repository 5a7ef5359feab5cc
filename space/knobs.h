// A family's schedules, described once: a struct of 64-bit integers, and one function that visits its knobs.
//
//   struct Schedule {  // the initialisers are the values of knobs that a workload does not have
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
// The space comes from that function; FamilySpace turns configs and points into members of the struct.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "space/family_space.h"

namespace lehr {

/// Returns the position of a member.
template <typename S>
std::size_t place_of(std::int64_t S::* member) {
  S all_zero = Members().as<S>();
  all_zero.*member = 1;
  const Members members = Members::of(all_zero);
  std::size_t place = 0;
  while (members[place] == 0) ++place;
  return place;
}

/// The visitor that a function describing schedules gets.
template <typename S>
class Knobs {
 public:
  /// Adds knobs to `space`, which began with the members of S{}.
  explicit Knobs(FamilySpace& space) : space_(space) {}

  /// Adds the next knob. Its name is stored with configs, so it must not change later. `values` are all
  /// values that it can take, in order: neighbouring values are one step apart.
  void knob(std::int64_t S::* member, std::string_view name, std::string_view meaning,
            std::vector<std::int64_t> values) {
    space_.knob(place_of(member), name, meaning, std::move(values));
  }
  /// Restricts the last knob to values for which `goes(schedule)` is true. A move that makes its value
  /// invalid takes the nearest valid value.
  template <typename Test>
  void only(Test goes) {
    space_.only([goes](const Members& members) { return goes(members.as<S>()); });
  }
  /// Forbids schedules. The rule is checked as soon as the last knob added so far has its value. Later knobs
  /// then have their initial values, on which `when(schedule)` must not depend. `sentence` says what is wrong
  /// with such a schedule, without a full stop.
  template <typename Test>
  void forbid(std::string_view sentence, Test when) {
    space_.forbid(sentence, [when](const Members& members) { return when(members.as<S>()); });
  }

 private:
  FamilySpace& space_;
};

/// Returns the space that `describe(Knobs<S>&)` describes.
template <typename S, typename Describe>
FamilySpace described_space(std::string family, const Describe& describe) {
  FamilySpace space(std::move(family), Members::of(S{}));
  Knobs<S> knobs(space);
  describe(knobs);
  return space;
}

}  // namespace lehr
