// A kind of problem with a scalar, an output and an argument that is changed in place.
#pragma once

#include <vector>

#include "base/hash.h"
#include "base/input_step.h"
#include "measure/core/element.h"
#include "measure/core/problem.h"

namespace lehr::testing {

inline constexpr std::int64_t kPairRows = 30, kPairColumns = 8;

/// Returns the kind "pair": alpha (f64), a (30 x 8), y = alpha rowsum(a) in bf16, z += rowsum(a).
inline const ProblemKind& pair_kind() {
  static const auto key = [](const Problem& problem, std::size_t argument) {
    return mix64(problem.seed + argument);
  };
  static const auto table = [](const Problem& problem, std::size_t argument) {
    const DType type = problem.arguments[argument].type;
    std::vector<unsigned char> bytes(static_cast<std::size_t>(kInputSteps * size_of(type)));
    for (std::int64_t i = 0; i < kInputSteps; ++i)
      store_element(type, static_cast<double>(i - kInputSteps / 2) * 0x1p-15,
                    bytes.data() + i * size_of(type));
    return bytes;
  };
  static const auto values = [](Problem& problem, int) {
    for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
      Argument& argument = problem.arguments[i];
      if (argument.role == Role::kOut) continue;
      const std::vector<unsigned char> of = table(problem, i);
      argument.values.clear();
      for (std::int64_t e = 0; e < argument.elements; ++e) {
        const auto at = of.begin() + input_step(key(problem, i), e) * size_of(argument.type);
        argument.values.insert(argument.values.end(), at, at + size_of(argument.type));
      }
    }
  };
  static const auto tolerances = [](Problem& problem) {
    for (const int output : {2, 3}) problem.arguments[output].absolute = 1e-4;
  };
  /// Computes a row of an output from the values.
  static const auto result = [](const Problem& problem, std::size_t output, std::int64_t row) {
    double sum = 0;
    for (std::int64_t p = 0; p < kPairColumns; ++p)
      sum += load_element(DType::kF32, problem.arguments[1].values.data(), row * kPairColumns + p);
    return static_cast<float>(output == 2
                                  ? sum * load_element(DType::kF64, problem.arguments[0].values.data(), 0)
                                  : sum + load_element(DType::kF32, problem.arguments[3].values.data(), row));
  };
  static const ProblemKind kind = {
      "pair",
      [](const ProblemKind& self, const std::string& text, std::uint64_t seed) {
        Problem problem;
        problem.text = text;
        problem.kind = &self;
        problem.seed = seed;
        problem.arguments = {{.name = "alpha", .type = DType::kF64, .elements = 1, .role = Role::kScalar},
                             {.name = "a", .elements = kPairRows * kPairColumns},
                             {.name = "y", .type = DType::kBF16, .elements = kPairRows, .role = Role::kOut},
                             {.name = "z", .elements = kPairRows, .role = Role::kInOut}};
        return problem;
      },
      [](Problem& problem, int threads) { values(problem, threads); },
      [](Problem& problem, int threads) {
        values(problem, threads);
        tolerances(problem);
        for (const std::size_t output : {2, 3}) {
          std::vector<float> expected;
          for (std::int64_t i = 0; i < kPairRows; ++i) expected.push_back(result(problem, output, i));
          problem.arguments[output].expected = elements_of(DType::kF32, expected);
        }
      },
      [](const Problem& problem, std::size_t argument) { return key(problem, argument); },
      [](const Problem& problem, std::size_t argument) { return table(problem, argument); },
      [](Problem& problem) { tolerances(problem); },
      [](const Problem&, std::size_t, std::int64_t) {
        return std::vector<std::int64_t>{0, 1, kPairRows - 1};
      },
      [](const Problem& problem, std::size_t output, std::span<const std::int64_t> elements, int threads) {
        Problem made = problem;
        values(made, threads);
        std::vector<float> expected;
        for (const std::int64_t i : elements) expected.push_back(result(made, output, i));
        return elements_of(DType::kF32, expected);
      }};
  return kind;
}

}  // namespace lehr::testing
