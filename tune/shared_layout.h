// Kernels that share one layout of their constant inputs, so that these are packed once for all of them.
#pragma once

#include <string>
#include <vector>

#include "space/config.h"
#include "templates/catalog.h"

namespace lehr {

/// A layout of inputs: that of a kernel, and of other kernels of its family with the same values of some
/// knobs.
struct SharedLayout {
  Config config;
  std::vector<std::string> knobs;
};

/// Returns the layout of a config of the workload's space. Its knobs are those that alone can change
/// prepack_layout().
SharedLayout shared_layout(const Config& config, const Workload& workload, const Limits& limits);

/// Reduces `families` to the layout's family, and its space to the configs that share the layout. The
/// layout's own config becomes the default. CHECKs that the space has it.
void keep_layout(Families& families, const SharedLayout& layout);

}  // namespace lehr
