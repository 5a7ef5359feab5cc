// Checks that each element is written and not NaN, and that elements with an expected value are within the
// tolerance.
#include "measure/core/check.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/in_parts.h"
#include "measure/core/element.h"

namespace lehr {
namespace {

/// Returns half the distance from `got`, a finite value in f16 or bf16, to its neighbour in the direction of
/// `expected`.
double half_unit_of(NarrowFormat format, double got, double expected) {
  const auto [fraction_bits, least_exponent] = format;
  const int exponent = got == 0 ? least_exponent : std::max(std::ilogb(got), least_exponent);
  // Below a power of two, neighbouring values are only half as far apart.
  const bool inwards = std::fabs(expected) < std::fabs(got);
  const bool at_power = inwards && exponent > least_exponent && std::fabs(got) == std::ldexp(1.0, exponent);
  return std::ldexp(1.0, exponent - fraction_bits - (at_power ? 2 : 1));
}

/// Returns the largest error that rounding to `type` alone causes. In 8 bits an expected integer has no such
/// error: all steps before it are exact.
double half_unit(DType type, double got, double expected) {
  if (type == DType::kU8 || type == DType::kS8) return expected == std::nearbyint(expected) ? 0 : 0.5;
  const std::optional<NarrowFormat> narrow = narrow_format(type);
  return narrow ? half_unit_of(*narrow, got, expected) : 0;
}

/// Returns the smaller index. An index of -1 does not count.
std::int64_t first_of(std::int64_t a, std::int64_t b) {
  return a < 0 ? b : b < 0 ? a : std::min(a, b);
}

/// Searches elements `first` to `last` (exclusive) for NaNs and the poison. `may_be_nan(i)` says where a NaN
/// is correct.
template <typename Load, typename MayBeNan>
Findings searched(DType type, const void* bytes, std::int64_t first, std::int64_t last, const Load& load,
                  const MayBeNan& may_be_nan) {
  Findings found;
  found.searched = last - first;
  for (std::int64_t i = first; i < last; ++i) {
    const auto got = load(i);
    if (got == got) continue;
    if (is_poison(type, bytes, i)) {
      if (found.unwritten++ == 0) found.first_unwritten = i;
    } else if (found.first_nan < 0 && !may_be_nan(i)) {
      found.first_nan = i;
    }
  }
  return found;
}

double difference(double got, double expected) {
  // Equal infinities have no difference, and an expected NaN is correct.
  return got == expected || (got != got && expected != expected) ? 0 : std::fabs(got - expected);
}
/// Returns the absolute difference. It is exact if small, else rounded to a double.
double difference(std::int64_t got, std::int64_t expected) {
  const auto [less, more] = std::minmax(got, expected);
  return static_cast<double>(static_cast<std::uint64_t>(more) - static_cast<std::uint64_t>(less));
}

/// Returns the allowed error of expected element `i`, without Argument::relative.
double bound_of(const Argument& output, std::int64_t i) {
  return output.bounds.empty() ? output.absolute
                               : static_cast<double>(output.bounds[static_cast<std::size_t>(i)]);
}

/// Returns the position of flat index `element` among the expected elements. If it occurs several times,
/// returns the first position.
std::int64_t number_of(const Argument& output, std::int64_t element) {
  return output.indices.empty() ? element
                                : std::ranges::find(output.indices, element) - output.indices.begin();
}

/// Compares the expected elements at positions `first` to `last` with the result. Elements at flat index
/// `elements` or beyond are left out.
template <typename Load, typename LoadExpected>
Findings compared(const Argument& output, std::int64_t elements, std::int64_t first, std::int64_t last,
                  const Load& load, const LoadExpected& load_expected) {
  Findings found;
  for (std::int64_t i = first; i < last; ++i) {
    const std::int64_t index = output.indices.empty() ? i : output.indices[static_cast<std::size_t>(i)];
    if (index >= elements) continue;
    ++found.compared;
    const auto got = load(index);
    const auto expected = static_cast<decltype(got)>(load_expected(i));
    const auto wanted = static_cast<double>(expected);
    double error = difference(got, expected);
    if (error > 0 && std::isfinite(error))
      error = std::max(0.0, error - half_unit(output.type, static_cast<double>(got), wanted));
    if (std::isfinite(error)) found.max_error = std::max(found.max_error, error);
    // Written so that a device computes it in the same way: no multiplication is followed by an addition.
    const double more =
        output.relative > 0 && std::isfinite(wanted) ? output.relative * std::fabs(wanted) : 0;
    const double bound = bound_of(output, i);
    if (std::isinf(bound) || error <= bound || error - bound <= more) continue;
    if (found.wrong++ == 0) found.first_wrong = index;
  }
  return found;
}

/// Calls body(load) once. load(i) returns the expected element at position i.
template <typename Body>
auto with_expected(const Argument& output, const Body& body) {
  const void* const bytes = output.expected.data();
  const auto of_type = [&]<typename T>(T) {
    return body([bytes](std::int64_t i) {
      T value;
      std::memcpy(&value, static_cast<const unsigned char*>(bytes) + i * std::int64_t{sizeof(T)}, sizeof(T));
      return value;
    });
  };
  if (output.expected_as == DType::kS64) return of_type(std::int64_t{});
  if (output.expected_as == DType::kF64) return of_type(double{});
  CHECK(output.expected_as == DType::kF32, "expected as {}", name_of(output.expected_as));
  return of_type(float{});
}

/// Calls find(first, last) for parts of [0, count) on `threads` threads, and adds the results.
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

std::string named_output(const Problem& problem, std::size_t output) {
  const auto outputs = std::ranges::count_if(problem.arguments, &Argument::is_output);
  return outputs == 1 ? "" : " of " + problem.arguments[output].name;
}

std::string fault_of(const Findings& findings, const Argument& output, const std::string& name, double got,
                     double expected) {
  // Arithmetic keeps the poison's bits, so a result accumulated onto unwritten memory looks unwritten, too.
  const std::int64_t unset = first_of(findings.first_unwritten, findings.first_nan);
  if (unset >= 0 && unset == findings.first_unwritten)
    return fmt::format(
        "left {} of {} {} unwritten (or computed them from unwritten memory), the first is element {}",
        findings.unwritten, findings.searched, name.empty() ? "output elements" : "elements" + name, unset);
  if (unset >= 0) return fmt::format("element {}{} is NaN", unset, name.empty() ? " of the output" : name);
  if (findings.wrong == 0) return "";
  const std::string relative = output.relative > 0 ? fmt::format(" + {:.3g} of it", output.relative) : "";
  return fmt::format(
      "element {}{} is {:.9g}, expected {:.9g} (tolerance {:.3g}{}, largest error {:.3g}, {} of {} compared "
      "elements wrong)",
      findings.first_wrong, name, got, expected, bound_of(output, number_of(output, findings.first_wrong)),
      relative, findings.max_error, findings.wrong, findings.compared);
}

Comparison compare_output(const Argument& output, const std::string& name, const void* bytes, int threads,
                          std::int64_t elements) {
  if (elements == 0) elements = output.elements;
  return with_elements(output.type, bytes, [&](const auto& load) {
    return with_expected(output, [&](const auto& load_expected) {
      // If only some elements have expected values and one of these is NaN, all others may be NaN.
      const auto is_nan = [&](std::int64_t i) {
        return std::isnan(static_cast<double>(load_expected(i))) || std::isinf(bound_of(output, i));
      };
      bool any_nan = false;
      for (std::int64_t i = 0; i < std::ssize(output.indices) && !any_nan; ++i) any_nan = is_nan(i);
      const auto may_be_nan = [&](std::int64_t i) { return output.indices.empty() ? is_nan(i) : any_nan; };
      Findings all =
          found_in_parts(output.expected_count(), threads, [&](std::int64_t first, std::int64_t last) {
            return compared(output, elements, first, last, load, load_expected);
          });
      if (is_searched(output.type))
        all.add(found_in_parts(elements, threads, [&](std::int64_t first, std::int64_t last) {
          return searched(output.type, bytes, first, last, load, may_be_nan);
        }));
      if (all.first_wrong < 0) return Comparison{all.max_error, fault_of(all, output, name, 0, 0)};
      // Indices may be in any order, so the first wrong element may come late.
      const std::int64_t at = number_of(output, all.first_wrong);
      return Comparison{all.max_error, fault_of(all, output, name, static_cast<double>(load(all.first_wrong)),
                                                static_cast<double>(load_expected(at)))};
    });
  });
}

namespace {

void require_whole(const Argument& argument, std::size_t at) {
  if (argument.role != Role::kOut && std::ssize(argument.values) != argument.bytes())
    throw_user("argument {} of the problem must carry {} bytes of values, it has {}", at, argument.bytes(),
               argument.values.size());
  if (!argument.is_output()) return;
  const std::int64_t wanted = argument.indices.empty() ? argument.elements : std::ssize(argument.indices);
  if (argument.expected_count() != wanted)
    throw_user("output {} of the problem must have {} expected values, it has {}", at, wanted,
               argument.expected_count());
  if (!argument.bounds.empty() && std::ssize(argument.bounds) != wanted)
    throw_user("output {} of the problem must have {} bounds, it has {}", at, wanted, argument.bounds.size());
  for (const std::int64_t index : argument.indices)
    if (index < 0 || index >= argument.elements)
      throw_user("index {} of the expected values is outside the output's {} elements", index,
                 argument.elements);
}

}  // namespace

std::vector<std::size_t> outputs_of(const Problem& problem) {
  std::vector<std::size_t> outputs;
  for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
    const Argument& argument = problem.arguments[i];
    if (argument.is_output()) outputs.push_back(i);
    if (argument.is_output() && problem.rows > 0 && argument.elements % problem.rows != 0)
      throw_user("output {} of the problem has {} elements and does not lie by {} rows", i, argument.elements,
                 problem.rows);
    if (argument.is_output() && (argument.type == DType::kS64) != (argument.expected_as == DType::kS64))
      throw_user("output {} of the problem is {} and cannot be expected as {}", i, name_of(argument.type),
                 name_of(argument.expected_as));
    if (problem.made()) require_whole(argument, i);
  }
  if (outputs.empty()) throw_user("a problem must have an output, it has none");
  return outputs;
}

}  // namespace lehr
