// Samples as configs, for tests that read and lower them.
#pragma once

#include <optional>

#include "space/space.h"

namespace lehr::testing {

/// As FamilySpace::sample and Space::sample, which give points.
inline std::optional<Config> sample_config(const FamilySpace& space, Rng& rng) {
  const std::optional<Point> point = space.sample(rng);
  return point ? std::optional(space.config_of(*point)) : std::nullopt;
}
inline Config sample_config(const Space& space, Rng& rng) {
  return space.config_of(space.sample(rng));
}

}  // namespace lehr::testing
