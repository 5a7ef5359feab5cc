// Small workloads drawn at random: sizes that nobody thought of, every layout, type and epilogue.
#pragma once

#include "base/rng.h"
#include "workload/workload.h"

namespace lehr::testing {

/// A valid workload of the operator, of at most half a million products, since emulation is slow. Types,
/// layouts and epilogues are those that some CUDA family has; who serves it is the caller's to ask.
Workload random_workload(Operator op, Rng& rng);

}  // namespace lehr::testing
