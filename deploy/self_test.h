// The results that a deployed kernel must compute from known input.
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
  double tolerance = 0;  ///< tolerance of each element, including the rounding to the output's type
  std::vector<std::pair<std::int64_t, float>> elements;
};

/// Results for the inputs of runtime::self_test_value().
struct SelfTest {
  std::int64_t rows = 0;  ///< rows that the kernel is called with; 0: their number is fixed
  /// Mean and deviation of each tensor's values. Empty if they are 0 and 1 for all tensors; outputs always
  /// have 0 and 1.
  std::vector<std::pair<double, double>> inputs;
  std::vector<TestedOutput> outputs;  ///< in argument order
};

/// Returns the values of each tensor in its self-test; empty for an output.
std::vector<std::vector<float>> known_inputs(std::span<const TensorSpec> tensors);
/// Returns the test of a kernel that must compute these outputs, in argument order, from known_inputs().
SelfTest self_test_of(std::span<const TensorSpec> tensors, const std::vector<Reference>& outputs);
/// Returns the test of a workload; nullopt if a tensor has a type that is not tested
/// (runtime::tested_type()).
std::optional<SelfTest> self_test_of(const Workload& workload);

}  // namespace lehr
