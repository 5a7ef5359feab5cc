// The building blocks of the operators' references: lines of the output, and sums of products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "workload/inputs.h"

namespace lehr {

/// The lines of each output. Lines of the same row in all matrices are compared together.
struct OutputLines {
  std::int64_t matrices = 1, rows = 0;
  double cost = 1;  ///< cost of an operation (flops_of()), relative to one of a matrix product
};

/// Expected elements of an output, which are `step` apart in memory.
struct OutputLine {
  std::int64_t first = 0, step = 1;  ///< flat indices
  std::vector<float> values;
  /// Error bound of each element; if empty, tolerance_for() holds for all elements.
  std::vector<float> bounds = {};
};

/// Elements of an input, which are `step` apart in memory.
struct InputLine {
  const MadeInput& of;
  std::int64_t first, step;
  double zero = 0;  ///< zero point, which is subtracted from each element
  double at(std::int64_t i) const {
    return static_cast<double>(of[static_cast<std::size_t>(first + i * step)]) - zero;
  }
};

/// Position of the first operand's zero point among the inputs, if it has one: it comes after the output.
inline constexpr std::size_t kZeroInput = 3;

inline double dot(const InputLine& a, const InputLine& b, std::int64_t count) {
  double partial[4] = {};
  for (std::int64_t p = 0; p < count; ++p) partial[p % 4] += a.at(p) * b.at(p);
  return (partial[0] + partial[1]) + (partial[2] + partial[3]);
}

}  // namespace lehr
