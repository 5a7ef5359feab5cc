// Kernels that lay their constant inputs out in one way, so that these are laid out once for all of them.
#pragma once

#include <string>
#include <vector>

#include "space/config.h"
#include "templates/catalog.h"

namespace lehr {

/// A way to lay inputs out: as a kernel does, and as others of its family do that have the same values of
/// some knobs.
struct SharedLayout {
  Config config;
  std::vector<std::string> knobs;
};

/// Of a config of the workload's space. Its knobs are those that change prepack_layout() when one of them
/// alone is changed.
SharedLayout shared_layout(const Config& config, const Workload& workload, const Limits& limits);

/// Leaves of `families` that of the layout alone, and of its space the configs that share it; the layout's
/// own is then the default. CHECKs that it is of the space.
void keep_layout(Families& families, const SharedLayout& layout);

}  // namespace lehr
