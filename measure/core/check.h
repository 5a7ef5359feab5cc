// The comparison of a candidate's output with the expected one.
#pragma once

#include <cstdint>
#include <string>

#include "measure/core/problem.h"

namespace lehr {

struct Comparison {
  /// Largest error over the compared elements that are finite. The error of an element is how far the
  /// expected value is from those that round to what was got: |got - expected| but for f16 and bf16, half a
  /// unit of which is no error.
  double max_error = 0;
  /// "" when right, else one sentence with the flat index of the first wrong element.
  std::string fault;
};

/// `bytes` is the output in its device type, poisoned before the run (measure/core/element.h). Compares with
/// `problem.expected` (at `problem.indices`), and demands of every element that it was written and is not a
/// NaN. That is the tightest test that accepts whatever a sum within the tolerance rounds to.
Comparison compare_output(const Problem& problem, const void* bytes);

/// Index in problem.tensors of its one output; throws Error(kUser) when there is not exactly one, when an
/// input does not carry one value per element, or when `expected` and `indices` do not fit together.
std::size_t output_of(const Problem& problem);

}  // namespace lehr
