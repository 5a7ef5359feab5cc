// What the references of the operators are made of: lines of the output, and sums of products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "workload/inputs.h"

namespace lehr {

/// Each output as so many lines; those of one row in all matrices are compared together.
struct OutputLines {
  std::int64_t matrices = 1, rows = 0;
  double cost = 1;  ///< of an operation (flops_of()), as many of a product of matrices
};

/// Expected elements of an output, so far apart in memory.
struct OutputLine {
  std::int64_t first = 0, step = 1;  ///< flat indices
  std::vector<float> values;
  /// What each of them may be off by; empty: tolerance_for() says it of all together.
  std::vector<float> bounds = {};
};

/// Elements of an input, so far apart.
struct InputLine {
  const MadeInput& of;
  std::int64_t first, step;
  double zero = 0;  ///< what is taken from each of them
  double at(std::int64_t i) const {
    return static_cast<double>(of[static_cast<std::size_t>(first + i * step)]) - zero;
  }
};

/// The input that is the first operand's zero point, where it has one: it stands behind the output.
inline constexpr std::size_t kZeroInput = 3;

inline double dot(const InputLine& a, const InputLine& b, std::int64_t count) {
  double partial[4] = {};
  for (std::int64_t p = 0; p < count; ++p) partial[p % 4] += a.at(p) * b.at(p);
  return (partial[0] + partial[1]) + (partial[2] + partial[3]);
}

}  // namespace lehr
