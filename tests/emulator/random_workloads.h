// Small workloads drawn at random: sizes that nobody thought of, every layout, type and epilogue.
#pragma once

#include "base/rng.h"
#include "workload/workload.h"

namespace lehr::testing {

/// Draws a valid workload of the operator, of at most half a million products, since emulation is slow. Its
/// types, layouts and epilogue are supported by some CUDA family; the caller has to ask which family serves
/// it.
Workload random_workload(Operator op, Rng& rng);

}  // namespace lehr::testing
