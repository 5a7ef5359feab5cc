// Kernels that share one layout of their constant inputs, so that the inputs are packed once for all of them.
#pragma once

#include <string>
#include <vector>

#include "space/config.h"
#include "templates/catalog.h"

namespace lehr {

/// A layout of inputs. It is the layout of `config`'s kernel, and of all kernels of its family that have the
/// same values of `knobs`.
struct SharedLayout {
  Config config;
  std::vector<std::string> knobs;
};

/// Returns the layout of a config of the workload's space. The result's `knobs` are the knobs whose change
/// alone can change prepack_layout().
SharedLayout shared_layout(const Config& config, const Workload& workload, const Limits& limits);

/// Reduces `families` to the layout's family, and its space to the configs that share the layout. The
/// layout's `config` becomes the default. CHECKs that the space has this config.
void keep_layout(Families& families, const SharedLayout& layout);

}  // namespace lehr
