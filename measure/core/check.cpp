// Two passes: every element must be written and a number; the expected ones must be near enough.
#include "measure/core/check.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "measure/core/element.h"

namespace lehr {
namespace {

/// Index of the first NaN, or `count`.
template <typename T>
std::int64_t first_nan(const T* values, std::int64_t count) {
  std::int64_t i = 0;
  while (i < count && values[i] == values[i]) ++i;
  return i;
}

/// The first element that was left unwritten or is a NaN, as a sentence; "" when there is none.
std::string unwritten_or_nan(const ProblemTensor& output, const void* bytes) {
  std::int64_t i = 0;
  if (output.type == DType::kF32) {
    i = first_nan(static_cast<const float*>(bytes), output.elements);  // millions of them: not one call each
  } else {
    while (i < output.elements && !std::isnan(load_element(output.type, bytes, i))) ++i;
  }
  if (i == output.elements) return "";
  if (!is_poison(output.type, bytes, i)) return fmt::format("element {} of the output is NaN", i);
  std::int64_t left = 0;
  for (std::int64_t j = i; j < output.elements; ++j) left += is_poison(output.type, bytes, j) ? 1 : 0;
  // Arithmetic keeps the poison's bits, so a sum onto what was there looks the same.
  return fmt::format(
      "left {} of {} output elements unwritten (or computed them from unwritten memory), the first is "
      "element {}",
      left, output.elements, i);
}

/// Half the distance from `got`, a finite value of f16 or bf16, to its neighbour on the side of `expected`.
double half_unit(DType type, double got, double expected) {
  const int fraction_bits = type == DType::kF16 ? 10 : 7;
  const int least_exponent = type == DType::kF16 ? -14 : -126;
  const int exponent = got == 0 ? least_exponent : std::max(std::ilogb(got), least_exponent);
  // Below a power of two values lie twice as close.
  const bool inwards = std::fabs(expected) < std::fabs(got);
  const bool at_power = inwards && exponent > least_exponent && std::fabs(got) == std::ldexp(1.0, exponent);
  return std::ldexp(1.0, exponent - fraction_bits - (at_power ? 2 : 1));
}

}  // namespace

Comparison compare_output(const Problem& problem, const void* bytes) {
  const auto found = std::find_if(problem.tensors.begin(), problem.tensors.end(),
                                  [](const ProblemTensor& tensor) { return tensor.output; });
  CHECK(found != problem.tensors.end());
  const ProblemTensor& output = *found;
  Comparison result;
  if (output.type == DType::kF64 || output.type == DType::kF32 || output.type == DType::kF16 ||
      output.type == DType::kBF16) {
    result.fault = unwritten_or_nan(output, bytes);
  }
  const bool is_narrow = output.type == DType::kF16 || output.type == DType::kBF16;
  std::int64_t wrong = 0;
  std::string first;
  for (std::size_t i = 0; i < problem.expected.size(); ++i) {
    const std::int64_t index = problem.indices.empty() ? static_cast<std::int64_t>(i) : problem.indices[i];
    const double got = load_element(output.type, bytes, index);
    const double expected = problem.expected[i];
    // Equal infinities have no difference to take.
    double error = got == expected ? 0 : std::fabs(got - expected);
    if (is_narrow && error > 0 && std::isfinite(error))
      error = std::max(0.0, error - half_unit(output.type, got, expected));
    if (std::isfinite(error)) result.max_error = std::max(result.max_error, error);
    if (error <= problem.tolerance) continue;
    if (wrong++ == 0) first = fmt::format("element {} is {:.9g}, expected {:.9g}", index, got, expected);
  }
  if (wrong > 0 && result.fault.empty()) {
    result.fault =
        fmt::format("{} (tolerance {:.3g}, largest error {:.3g}, {} of {} compared elements wrong)", first,
                    problem.tolerance, result.max_error, wrong, problem.expected.size());
  }
  return result;
}

std::size_t output_of(const Problem& problem) {
  std::size_t output = problem.tensors.size();
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    const ProblemTensor& tensor = problem.tensors[i];
    if (tensor.output) {
      if (output != problem.tensors.size())
        throw_user("a problem must have exactly one output, tensors {} and {} are both", output, i);
      output = i;
    } else if (static_cast<std::int64_t>(tensor.values.size()) != tensor.elements) {
      throw_user("input {} of the problem must carry {} values, it has {}", i, tensor.elements,
                 tensor.values.size());
    }
  }
  if (output == problem.tensors.size()) throw_user("a problem must have exactly one output, it has none");
  const std::int64_t elements = problem.tensors[output].elements;
  const std::size_t wanted =
      problem.indices.empty() ? static_cast<std::size_t>(elements) : problem.indices.size();
  if (problem.expected.size() != wanted)
    throw_user("the problem must have {} expected values, it has {}", wanted, problem.expected.size());
  for (std::int64_t index : problem.indices) {
    if (index < 0 || index >= elements)
      throw_user("index {} of the expected values is outside the output's {} elements", index, elements);
  }
  return output;
}

}  // namespace lehr
