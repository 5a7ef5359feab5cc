// A workload in the terms in which vendor libraries are asked for it.
#pragma once

#include "measure/problem.h"
#include "workload/workload.h"

namespace lehr {

/// A problem of which only `gemm` or `conv2d` and `steps` are set: neither of the former where no library's
/// call computes the workload (a gate or a pool shrinks the output).
Problem baseline_terms(const Workload& workload);

}  // namespace lehr
