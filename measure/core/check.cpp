// Every element must be written and a number; the expected ones must be near enough.
#include "measure/core/check.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/in_parts.h"
#include "measure/core/element.h"

namespace lehr {
namespace {

/// Half the distance from `got`, a finite value of f16 or bf16, to its neighbour on the side of `expected`.
double half_unit_of(NarrowFormat format, double got, double expected) {
  const auto [fraction_bits, least_exponent] = format;
  const int exponent = got == 0 ? least_exponent : std::max(std::ilogb(got), least_exponent);
  // Below a power of two values lie twice as close.
  const bool inwards = std::fabs(expected) < std::fabs(got);
  const bool at_power = inwards && exponent > least_exponent && std::fabs(got) == std::ldexp(1.0, exponent);
  return std::ldexp(1.0, exponent - fraction_bits - (at_power ? 2 : 1));
}

/// What no error is larger than that comes of rounding to `type` alone. Of 8 bits integers are expected where
/// each step before is exact.
double half_unit(DType type, double got, double expected) {
  if (type == DType::kU8 || type == DType::kS8) return expected == std::nearbyint(expected) ? 0 : 0.5;
  const std::optional<NarrowFormat> narrow = narrow_format(type);
  return narrow ? half_unit_of(*narrow, got, expected) : 0;
}

/// The smaller index; -1 is none.
std::int64_t first_of(std::int64_t a, std::int64_t b) {
  return a < 0 ? b : b < 0 ? a : std::min(a, b);
}

/// What elements [first, last) hold.
template <typename Load>
Findings searched(DType type, const void* bytes, std::int64_t first, std::int64_t last, const Load& load) {
  Findings found;
  found.searched = last - first;
  for (std::int64_t i = first; i < last; ++i) {
    const double got = load(i);
    if (got == got) continue;
    if (is_poison(type, bytes, i)) {
      if (found.unwritten++ == 0) found.first_unwritten = i;
    } else if (found.first_nan < 0) {
      found.first_nan = i;
    }
  }
  return found;
}

/// Those of `expected` in [first, last) against what was got.
template <typename Load>
Findings compared(const Problem& problem, DType type, std::int64_t first, std::int64_t last,
                  const Load& load) {
  Findings found;
  found.compared = last - first;
  for (std::int64_t i = first; i < last; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t index = problem.indices.empty() ? i : problem.indices[at];
    const double got = load(index);
    const double expected = problem.expected[at];
    // Equal infinities have no difference to take.
    double error = got == expected ? 0 : std::fabs(got - expected);
    if (error > 0 && std::isfinite(error)) error = std::max(0.0, error - half_unit(type, got, expected));
    if (std::isfinite(error)) found.max_error = std::max(found.max_error, error);
    if (error <= problem.tolerance) continue;
    if (found.wrong++ == 0) found.first_wrong = index;
  }
  return found;
}

/// find(first, last) for shares of [0, count) on so many threads, added up.
template <typename Find>
Findings found_in_parts(std::int64_t count, int threads, const Find& find) {
  std::vector<Findings> shares(static_cast<std::size_t>(parts_of(count, threads)));
  in_parts(count, static_cast<int>(shares.size()), [&](int part, std::int64_t first, std::int64_t last) {
    shares[static_cast<std::size_t>(part)] = find(first, last);
  });
  Findings all;
  for (const Findings& share : shares) all.add(share);
  return all;
}

}  // namespace

void Findings::add(const Findings& others) {
  compared += others.compared;
  wrong += others.wrong;
  searched += others.searched;
  unwritten += others.unwritten;
  first_wrong = first_of(first_wrong, others.first_wrong);
  first_unwritten = first_of(first_unwritten, others.first_unwritten);
  first_nan = first_of(first_nan, others.first_nan);
  max_error = std::max(max_error, others.max_error);
}

std::optional<NarrowFormat> narrow_format(DType output) {
  if (output == DType::kF16) return NarrowFormat{10, -14};
  if (output == DType::kBF16) return NarrowFormat{7, -126};
  return std::nullopt;
}

bool is_searched(DType output) {
  return output == DType::kF64 || output == DType::kF32 || output == DType::kF16 || output == DType::kBF16;
}

std::string fault_of(const Findings& findings, double tolerance, double got, double expected) {
  // Arithmetic keeps the poison's bits, so a sum onto what was there looks the same.
  const std::int64_t unset = first_of(findings.first_unwritten, findings.first_nan);
  if (unset >= 0 && unset == findings.first_unwritten)
    return fmt::format(
        "left {} of {} output elements unwritten (or computed them from unwritten memory), the first is "
        "element {}",
        findings.unwritten, findings.searched, unset);
  if (unset >= 0) return fmt::format("element {} of the output is NaN", unset);
  if (findings.wrong == 0) return "";
  return fmt::format(
      "element {} is {:.9g}, expected {:.9g} (tolerance {:.3g}, largest error {:.3g}, {} of {} compared "
      "elements wrong)",
      findings.first_wrong, got, expected, tolerance, findings.max_error, findings.wrong, findings.compared);
}

Comparison compare_output(const Problem& problem, const void* bytes, int threads) {
  const auto output = std::ranges::find_if(problem.tensors, &ProblemTensor::output);
  CHECK(output != problem.tensors.end());
  const DType type = output->type;
  return with_elements(type, bytes, [&](const auto& load) {
    const auto count = static_cast<std::int64_t>(problem.expected.size());
    Findings all = found_in_parts(count, threads, [&](std::int64_t first, std::int64_t last) {
      return compared(problem, type, first, last, load);
    });
    if (is_searched(type))
      all.add(found_in_parts(output->elements, threads, [&](std::int64_t first, std::int64_t last) {
        return searched(type, bytes, first, last, load);
      }));
    if (all.first_wrong < 0) return Comparison{all.max_error, fault_of(all, problem.tolerance, 0, 0)};
    // At indices in any order the first wrong one may come late.
    const auto at = problem.indices.empty()
                        ? all.first_wrong
                        : std::ranges::find(problem.indices, all.first_wrong) - problem.indices.begin();
    return Comparison{all.max_error, fault_of(all, problem.tolerance, load(all.first_wrong),
                                              problem.expected[static_cast<std::size_t>(at)])};
  });
}

std::size_t output_of(const Problem& problem) {
  std::size_t output = problem.tensors.size();
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    const ProblemTensor& tensor = problem.tensors[i];
    if (tensor.output) {
      if (output != problem.tensors.size())
        throw_user("a problem must have exactly one output, tensors {} and {} are both", output, i);
      output = i;
    } else if (problem.made() && static_cast<std::int64_t>(tensor.values.size()) != tensor.elements) {
      throw_user("input {} of the problem must carry {} values, it has {}", i, tensor.elements,
                 tensor.values.size());
    }
  }
  if (output == problem.tensors.size()) throw_user("a problem must have exactly one output, it has none");
  if (!problem.made()) return output;
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
