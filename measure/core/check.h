// Compares a candidate's outputs with the expected ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/core/problem.h"

namespace lehr {

/// Findings of a comparison of an output with its expected values. The comparison runs on the host or on a
/// device. The error of an element is |got - expected|. For f16, bf16, u8 and s8 it is the distance from the
/// expected value to the nearest value that rounds to the result, so an error of half a unit counts as 0.
struct Findings {
  std::int64_t compared = 0;  ///< number of elements with an expected value
  std::int64_t wrong = 0;     ///< number of compared elements whose error exceeds the tolerance
  /// Flat index of the first wrong element; -1: there is no such element. The same holds for first_unwritten
  /// and first_nan.
  std::int64_t first_wrong = -1;
  std::int64_t searched = 0;   ///< number of elements searched for NaNs and the poison (is_searched())
  std::int64_t unwritten = 0;  ///< number of searched elements that hold the poison
  std::int64_t first_unwritten = -1;
  std::int64_t first_nan = -1;  ///< flat index of a NaN that is not the poison
  double max_error = 0;         ///< largest finite error

  /// Adds findings about other elements of the output.
  void add(const Findings& others);
};

/// A floating-point format of 16 bits.
struct NarrowFormat {
  int fraction_bits = 0;
  int least_exponent = 0;  ///< exponent of the smallest normal value
};
/// Returns the format of a 16-bit type; nullopt for other types.
std::optional<NarrowFormat> narrow_format(DType output);

/// Whether outputs of this type are searched for NaNs and the poison. True for the floating-point types of 16
/// bits and more.
bool is_searched(DType output);

struct Comparison {
  double max_error = 0;  ///< Findings::max_error
  /// "" if the output is right, else one sentence with the flat index of the first wrong element.
  std::string fault;
};

/// Returns the words that name an output in a sentence: "" if it is the only output, else " of NAME".
std::string named_output(const Problem& problem, std::size_t output);

/// Explains what is wrong with an output. `name` is named_output(). `got` and `expected` are the values of
/// the first wrong element.
std::string fault_of(const Findings& findings, const Argument& output, const std::string& name, double got,
                     double expected);

/// Compares an output with the expected values. `bytes` has the device's type and was poisoned before the run
/// (measure/core/element.h). Each element must have been written and must not be NaN, unless NaN is expected.
/// The test is the tightest that accepts each result within the tolerance after rounding. Runs on `threads`
/// threads. If `elements` is not 0, only the first `elements` elements are compared.
Comparison compare_output(const Argument& output, const std::string& name, const void* bytes, int threads = 1,
                          std::int64_t elements = 0);

/// Returns the positions of the outputs in problem.arguments. Throws Error(kUser) if there is no output, or
/// if an output is not laid out by the problem's rows or its `expected_as` cannot hold its type. If the
/// problem is made, also throws if an argument does not have one value per element, or if `expected` and
/// `indices` do not have the same length.
std::vector<std::size_t> outputs_of(const Problem& problem);

}  // namespace lehr
