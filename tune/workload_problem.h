// Problems of workloads: what a worker makes of a workload's text.
#pragma once

#include <cstdint>
#include <span>

#include "measure/core/problem.h"
#include "workload/workload.h"

namespace lehr {

/// A kind for each operator, by its name.
std::span<const ProblemKind> workload_kinds();

/// The problem of this workload, only asked for. Its arguments are tensors_of(workload), with
/// make_inputs(workload, seed); what is expected of them is workload/reference.h's.
Problem asked_problem(const Workload& workload, std::uint64_t seed);

}  // namespace lehr
