// Problems of workloads, and how a worker makes a problem from a workload's text.
#pragma once

#include <cstdint>
#include <span>

#include "measure/core/problem.h"
#include "workload/workload.h"

namespace lehr {

/// Returns one problem kind per operator, with the operator's name.
std::span<const ProblemKind> workload_kinds();

/// Returns the problem of a workload without its values. Its arguments are tensors_of(workload), with the
/// values of make_inputs(workload, seed). Its expected values are those of workload/reference.h.
Problem asked_problem(const Workload& workload, std::uint64_t seed);

}  // namespace lehr
