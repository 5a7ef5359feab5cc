// Random configs, default configs and their kernels, for tests that read and lower them.
#pragma once

#include <optional>

#include "space/space.h"
#include "templates/family.h"

namespace lehr::testing {

/// Samples as FamilySpace::sample and Space::sample do, but returns configs instead of points.
inline std::optional<Config> sample_config(const FamilySpace& space, Rng& rng) {
  const std::optional<Point> point = space.sample(rng);
  return point ? std::optional(space.config_of(*point)) : std::nullopt;
}
inline Config sample_config(const Space& space, Rng& rng) {
  return space.config_of(space.sample(rng));
}

/// Returns the default config of one family.
inline Config default_of(const Template& family, const Workload& workload, const Limits& limits) {
  return family.default_in(family.space(workload, limits), workload, limits);
}
/// Returns the kernel of a config of the family. The config need not be valid. CHECKs that it has all knobs.
inline ir::Kernel lowered(const Template& family, const Workload& workload, const Config& config,
                          const Limits& limits) {
  return family.lower_schedule(workload, family.space(workload, limits).members_of(config), limits);
}
/// Returns the schedule that a config with these knobs stands for.
template <auto kKnobs>
ScheduleOf<kKnobs> schedule_of(const Config& config, const Workload& workload, const Limits& limits) {
  return family_space<kKnobs>(config.family, workload, limits)
      .members_of(config)
      .template as<ScheduleOf<kKnobs>>();
}

}  // namespace lehr::testing
