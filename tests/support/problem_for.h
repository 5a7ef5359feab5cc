// A problem as a worker has it before its first candidate, and helpers for problems with a single output.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "measure/core/check.h"
#include "measure/core/element.h"
#include "measure/core/problem.h"
#include "tune/workload_problem.h"

namespace lehr {

/// Returns asked_problem() with its values and expected values made.
inline Problem problem_for(const Workload& workload, std::uint64_t seed) {
  Problem problem = asked_problem(workload, seed);
  make(problem, 1);
  return problem;
}

/// Returns the position of the problem's output in problem.arguments.
inline std::size_t output_of(const Problem& problem) {
  return outputs_of(problem).at(0);
}
inline Argument& output_argument(Problem& problem) {
  return problem.arguments[output_of(problem)];
}
/// Returns compare_output() of the problem's output.
inline Comparison compare_output(const Problem& problem, const void* bytes) {
  return compare_output(problem.arguments[output_of(problem)], "", bytes);
}

inline std::vector<float> floats_of(DType type, const std::vector<unsigned char>& bytes) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < std::ssize(bytes) / size_of(type); ++i)
    values.push_back(static_cast<float>(load_element(type, bytes.data(), i)));
  return values;
}
/// Returns the values of the inputs, each as floats.
inline std::vector<std::vector<float>> inputs_of(const Problem& problem) {
  std::vector<std::vector<float>> inputs;
  for (const Argument& argument : problem.arguments)
    if (argument.role != Role::kOut) inputs.push_back(floats_of(argument.type, argument.values));
  return inputs;
}

}  // namespace lehr
