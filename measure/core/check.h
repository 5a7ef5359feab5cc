// Compares a candidate's outputs with the expected ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/core/problem.h"

namespace lehr {

/// Findings about an output, on the host or on a device. The error of an element is the distance of the
/// expected value from those that round to the result: |got - expected|, but in f16, bf16, u8 and s8 half a
/// unit is no error.
struct Findings {
  std::int64_t compared = 0;      ///< elements with an expected value
  std::int64_t wrong = 0;         ///< those of them whose error exceeds the tolerance
  std::int64_t first_wrong = -1;  ///< flat index, as the next two; -1: none
  std::int64_t searched = 0;      ///< elements that were searched for NaNs and the poison (is_searched())
  std::int64_t unwritten = 0;     ///< those of them that hold the poison
  std::int64_t first_unwritten = -1;
  std::int64_t first_nan = -1;  ///< of a NaN that is not the poison
  double max_error = 0;         ///< largest finite error

  /// Adds the findings about other elements.
  void add(const Findings& others);
};

/// An output that is rounded to 16 bits.
struct NarrowFormat {
  int fraction_bits = 0;
  int least_exponent = 0;  ///< of a normal value
};
/// Returns the format of a 16-bit type; nullopt for other types.
std::optional<NarrowFormat> narrow_format(DType output);

/// Whether this type is searched for NaNs and the poison: it is one that holds sums.
bool is_searched(DType output);

struct Comparison {
  double max_error = 0;  ///< Findings::max_error
  /// "" if right, else one sentence with the flat index of the first wrong element.
  std::string fault;
};

/// Returns the part of a sentence that names an output: "" if it is the only one, else " of NAME".
std::string named_output(const Problem& problem, std::size_t output);

/// Explains what is wrong. `name` is named_output(); `got` and `expected` are those of the first wrong
/// element.
std::string fault_of(const Findings& findings, const Argument& output, const std::string& name, double got,
                     double expected);

/// Compares an output with the expected one. `bytes` has the device's type and was poisoned before the run
/// (measure/core/element.h). Requires that each element was written and, if a number is expected, is not NaN.
/// It is the tightest test that accepts each result within the tolerance after rounding. Runs on this many
/// threads. Looks only at the first `elements` if that is not 0.
Comparison compare_output(const Argument& output, const std::string& name, const void* bytes, int threads = 1,
                          std::int64_t elements = 0);

/// Returns the positions of the outputs in problem.arguments. Throws Error(kUser) if there is no output, if
/// one is not laid out by the problem's rows or is expected in a type that cannot hold it, and, if the
/// problem is made, if an argument does not have one value per element or `expected` and `indices` do not fit
/// together.
std::vector<std::size_t> outputs_of(const Problem& problem);

}  // namespace lehr
