// What a deployed kernel has to compute from known input.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "workload/reference.h"
#include "workload/workload.h"

namespace lehr {

/// Elements of an output, in double precision.
struct TestedOutput {
  double tolerance = 0;  ///< of each, its rounding to the output's type included
  std::vector<std::pair<std::int64_t, float>> elements;
};

/// What becomes of runtime::self_test_value().
struct SelfTest {
  std::int64_t rows = 0;  ///< that the kernel is told of; 0: their number is fixed
  /// The mean and the deviation of each tensor; empty where they are 0 and 1, as those of outputs.
  std::vector<std::pair<double, double>> inputs;
  std::vector<TestedOutput> outputs;  ///< in argument order
};

/// The values of each tensor in its self-test; none of an output.
std::vector<std::vector<float>> known_inputs(std::span<const TensorSpec> tensors);
/// The test of a kernel that has to compute these outputs, in argument order, of known_inputs().
SelfTest self_test_of(std::span<const TensorSpec> tensors, const std::vector<Reference>& outputs);
/// nullopt for a workload with tensors of a type that is not tested (runtime::tested_type()).
std::optional<SelfTest> self_test_of(const Workload& workload);

}  // namespace lehr
