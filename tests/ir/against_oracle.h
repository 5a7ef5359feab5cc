// Compares ir::analyze with the brute-force count of tests/support/interpret.h.
#pragma once

#include "ir/analyze.h"
#include "tests/support/interpret.h"

namespace lehr::testing {

/// Expects that everything agrees that must always agree: order, executions, strides, flops, bytes, barriers,
/// divisions.
void expect_exact_but_footprints(const ir::Kernel& kernel, const ir::Analysis& analysis,
                                 const Counts& counts);

/// Expects that all of that agrees, and the footprints and distinct bytes, too.
void expect_exact(const ir::Kernel& kernel);

}  // namespace lehr::testing
