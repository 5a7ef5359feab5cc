// Makes the Template of a family whose function describes its schedules (space/knobs.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "base/limits.h"
#include "space/knobs.h"
#include "templates/template.h"
#include "workload/workload.h"

namespace lehr {

/// A text as a template's argument.
template <std::size_t kSize>
struct FamilyName {
  consteval FamilyName(const char (&literal)[kSize]) {  // NOLINT: implicit on purpose
    std::ranges::copy(literal, text);
  }
  char text[kSize] = {};
};

namespace family_parts {
template <typename S>
S struct_of(void (*)(Knobs<S>&, const Workload&, const Limits&));
}
/// The schedule's struct, whose knobs the function `kKnobs` visits.
template <auto kKnobs>
using ScheduleOf = decltype(family_parts::struct_of(kKnobs));

/// Returns the space that `kKnobs(knobs, workload, limits)` describes.
template <auto kKnobs>
FamilySpace family_space(std::string name, const Workload& workload, const Limits& limits) {
  using S = ScheduleOf<kKnobs>;
  return described_space<S>(std::move(name), [&](Knobs<S>& knobs) { kKnobs(knobs, workload, limits); });
}

/// Completes `entry` with its name, and with three functions of a schedule's struct S:
/// - void kKnobs(Knobs<S>&, const Workload&, const Limits&) visits the knobs;
/// - S kWanted(const Workload&, const Limits&) returns the wanted default; the nearest valid schedule becomes
///   the default;
/// - ir::Kernel kLower(const Workload&, const S&, const Limits&) returns the kernel.
template <FamilyName kName, auto kKnobs, auto kWanted, auto kLower>
Template family(Template entry) {
  entry.name = kName.text;
  entry.space = [](const Workload& workload, const Limits& limits) {
    return family_space<kKnobs>(kName.text, workload, limits);
  };
  entry.lower_schedule = [](const Workload& workload, const Members& schedule, const Limits& limits) {
    return kLower(workload, schedule.as<ScheduleOf<kKnobs>>(), limits);
  };
  entry.default_in = [](const FamilySpace& space, const Workload& workload, const Limits& limits) {
    return space.nearest(Members::of(kWanted(workload, limits)));
  };
  return entry;
}

}  // namespace lehr
