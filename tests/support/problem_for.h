// A problem as a worker has it before its first candidate.
#pragma once

#include <cstdint>

#include "measure/core/problem.h"

namespace lehr {

/// asked_problem(), made.
inline Problem problem_for(const Workload& workload, std::uint64_t seed) {
  Problem problem = asked_problem(workload, seed);
  make(problem, 1);
  return problem;
}

}  // namespace lehr
