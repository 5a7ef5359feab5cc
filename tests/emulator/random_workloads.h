// Small random workloads: unusual sizes, and every layout, type and epilogue.
#pragma once

#include "base/rng.h"
#include "workload/workload.h"

namespace lehr::testing {

/// Draws a valid workload of the operator with at most half a million products, since emulation is slow. Some
/// CUDA family supports its types, layouts and epilogue. The caller has to find out which family serves it.
Workload random_workload(Operator op, Rng& rng);

}  // namespace lehr::testing
