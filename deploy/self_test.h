// What a deployed kernel has to compute from known input.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "workload/workload.h"

namespace lehr {

/// Elements of the output, in double precision, of runtime::self_test_input().
struct SelfTest {
  double tolerance = 0;  ///< of each
  std::vector<std::pair<std::int64_t, float>> output;
};

/// nullopt for a workload whose tensors are not all f32.
std::optional<SelfTest> self_test_of(const Workload& workload);

}  // namespace lehr
