// The comparison of a candidate's outputs with what is expected.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/core/problem.h"

namespace lehr {

/// What was found in an output, on the host or on a device. The error of an element is how far the expected
/// value is from those that round to what was got: |got - expected| but for f16, bf16, u8 and s8, half a unit
/// of which is no error.
struct Findings {
  std::int64_t compared = 0;      ///< elements for which something is expected
  std::int64_t wrong = 0;         ///< of those, the ones whose error is not within the tolerance
  std::int64_t first_wrong = -1;  ///< flat index, as in the next two; -1: none
  std::int64_t searched = 0;      ///< elements that were looked at for NaNs and the poison (is_searched())
  std::int64_t unwritten = 0;     ///< of those, the ones that hold the poison
  std::int64_t first_unwritten = -1;
  std::int64_t first_nan = -1;  ///< that is not the poison
  double max_error = 0;         ///< largest finite error

  /// With those of other elements.
  void add(const Findings& others);
};

/// An output that is rounded to 16 bits.
struct NarrowFormat {
  int fraction_bits = 0;
  int least_exponent = 0;  ///< of a normal value
};
/// nullopt for other types.
std::optional<NarrowFormat> narrow_format(DType output);

/// Whether NaNs and the poison are looked for: of the types that hold sums.
bool is_searched(DType output);

struct Comparison {
  double max_error = 0;  ///< Findings::max_error
  /// "" when right, else one sentence with the flat index of the first wrong element.
  std::string fault;
};

/// How a sentence about an output of this problem names it: "" where it is the only one, else " of NAME".
std::string named_output(const Problem& problem, std::size_t output);

/// What is wrong, in words. `name`: named_output(). `got` and `expected`: of the first wrong element.
std::string fault_of(const Findings& findings, const Argument& output, const std::string& name, double got,
                     double expected);

/// `bytes` is an output in its device type, poisoned before the run (measure/core/element.h). Compares with
/// what is expected of it, and demands of every element that it was written and, where none is expected, is
/// no NaN. That is the tightest test that accepts whatever a result within the tolerance rounds to. On so
/// many threads. Looks at the first `elements` alone, where that is not 0.
Comparison compare_output(const Argument& output, const std::string& name, const void* bytes, int threads = 1,
                          std::int64_t elements = 0);

/// Indices in problem.arguments of its outputs. Throws Error(kUser) when it has no output, when one does not
/// lie by the problem's rows or is expected in a type that cannot hold it, and, in a problem that is made,
/// when an argument does not carry one value per element, or `expected` and `indices` do not fit together.
std::vector<std::size_t> outputs_of(const Problem& problem);

}  // namespace lehr
