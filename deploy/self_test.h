// What a deployed kernel has to compute from known input.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "workload/workload.h"

namespace lehr {

/// Elements of the output, in double precision, of runtime::self_test_value().
struct SelfTest {
  std::int64_t rows = 0;  ///< that the kernel is told of; 0: their number is fixed
  double tolerance = 0;   ///< of each, its rounding to the output's type included
  /// The mean and the deviation of each input; empty where they are 0 and 1.
  std::vector<std::pair<double, double>> inputs;
  std::vector<std::pair<std::int64_t, float>> output;
};

/// nullopt for a workload with tensors of a type that is not tested (runtime::tested_type()).
std::optional<SelfTest> self_test_of(const Workload& workload);

}  // namespace lehr
