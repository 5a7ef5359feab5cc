// A kind of problem with arguments of every role and of types that no workload has, as a user's own kernel
// may have. It is made from the index and the seed alone.
#pragma once

#include <cstring>
#include <vector>

#include "measure/core/problem.h"

namespace lehr::testing {

/// Returns the kind "mixed N". count (u16) and x (f64) of N elements are read, step (s64) is a number; state
/// (f32) becomes state / 2 + x, big (s64) = step + count, beyond what a double holds, product (u32) = count *
/// 40503, twice (f64) = 2 x.
inline const ProblemKind& mixed_kind() {
  struct Values {
    std::vector<std::uint16_t> count;
    std::vector<double> x, twice, product;  // u32 as f64
    std::vector<float> state, next;
    std::vector<std::int64_t> step, big;
    explicit Values(const Problem& problem) {
      const auto seed = static_cast<std::int64_t>(problem.seed);
      step = {(std::int64_t{1} << 60) + seed};
      for (std::int64_t i = 0; i < problem.arguments[0].elements; ++i) {
        count.push_back(static_cast<std::uint16_t>((i + seed) * 7919));
        x.push_back(static_cast<double>((i * 37 + seed) % 1000) / 7);
        state.push_back(static_cast<float>((i + seed) % 50));
        next.push_back(static_cast<float>(static_cast<double>(state.back()) / 2 + x.back()));
        twice.push_back(2 * x.back());
        big.push_back(step[0] + count.back());
        product.push_back(static_cast<double>(std::uint32_t{count.back()} * 40503U));
      }
    }
  };
  static const auto put = []<typename T>(std::vector<unsigned char>& bytes, const std::vector<T>& values) {
    bytes.resize(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
  };
  static const auto set_values = [](Problem& problem, const Values& values) {
    put(problem.arguments[0].values, values.count);
    put(problem.arguments[1].values, values.x);
    put(problem.arguments[2].values, values.state);
    put(problem.arguments[3].values, values.step);
  };
  static const ProblemKind kind = {
      "mixed ",
      [](const ProblemKind& self, const std::string& text, std::uint64_t seed) {
        Problem problem;
        problem.text = text;
        problem.kind = &self;
        problem.seed = seed;
        const std::int64_t n = std::stoll(text.substr(self.prefix.size()));
        using enum Role;
        using enum DType;
        problem.arguments = {
            {.name = "count", .type = kU16, .elements = n},
            {.name = "x", .type = kF64, .elements = n},
            {.name = "state", .type = kF32, .elements = n, .role = kInOut},
            {.name = "step", .type = kS64, .elements = 1, .role = kScalar},
            {.name = "big", .type = kS64, .elements = n, .role = kOut, .expected_as = kS64},
            {.name = "product", .type = kU32, .elements = n, .role = kOut, .expected_as = kF64},
            {.name = "twice", .type = kF64, .elements = n, .role = kOut, .expected_as = kF64}};
        return problem;
      },
      [](Problem& problem, int) { set_values(problem, Values(problem)); },
      [](Problem& problem, int) {
        const Values values(problem);
        set_values(problem, values);
        put(problem.arguments[2].expected, values.next);
        put(problem.arguments[4].expected, values.big);
        put(problem.arguments[5].expected, values.product);
        put(problem.arguments[6].expected, values.twice);
        problem.arguments[2].relative = 1e-6;
        problem.arguments[6].relative = 1e-12;
      }};
  return kind;
}

}  // namespace lehr::testing
