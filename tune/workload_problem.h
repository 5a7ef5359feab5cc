// Problems of workloads: how a worker makes a problem from a workload's text.
#pragma once

#include <cstdint>
#include <span>

#include "measure/core/problem.h"
#include "workload/workload.h"

namespace lehr {

/// Returns one kind per operator, by its name.
std::span<const ProblemKind> workload_kinds();

/// Returns the problem of a workload without its values. Its arguments are tensors_of(workload), with
/// make_inputs(workload, seed). The expected values are workload/reference.h's.
Problem asked_problem(const Workload& workload, std::uint64_t seed);

}  // namespace lehr
