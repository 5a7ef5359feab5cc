// The comparison of a candidate's output with the expected one.
#pragma once

#include <cstdint>
#include <string>

#include "measure/problem.h"

namespace lehr {

struct Comparison {
  double max_error = 0;  ///< largest |got - expected| over the compared elements that are finite
  /// "" when right, else one sentence with the flat index of the first wrong element.
  std::string fault;
};

/// `bytes` is the output in its device type, poisoned before the run (measure/element.h). Compares with
/// `problem.expected` (at `problem.indices`), and demands of every element that it was written and is not a
/// NaN.
Comparison compare_output(const Problem& problem, const void* bytes);

/// Index in problem.tensors of its one output; throws Error(kUser) when there is not exactly one, when an
/// input does not carry one value per element, or when `expected` and `indices` do not fit together.
std::size_t output_of(const Problem& problem);

}  // namespace lehr
