#include "measure/core/problem.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace lehr {

bool Problem::made() const {
  return std::ranges::all_of(
      arguments, [](const Argument& each) { return !each.is_output() || !each.expected.empty(); });
}

Problem asked_problem(std::span<const ProblemKind> kinds, const std::string& text, std::uint64_t seed) {
  const auto kind =
      std::ranges::find_if(kinds, [&](const ProblemKind& each) { return text.starts_with(each.prefix); });
  if (kind == kinds.end()) throw_user("nobody here can make the problem '{}'", text);
  return kind->ask(*kind, text, seed);
}

Problem only_asked(Problem problem) {
  problem.inputs_s = problem.expected_s = 0;
  for (Argument& argument : problem.arguments) {
    argument.values.clear();
    argument.indices.clear();
    argument.expected.clear();
  }
  return problem;
}

Problem other_problem(Problem problem) {
  constexpr std::uint64_t kOther = 0x6C656872;  // any large number: seeds of sessions are small
  problem.seed ^= kOther;
  problem.full_flops = kOtherFlops;
  return only_asked(std::move(problem));
}

void make(Problem& problem, int threads) {
  if (problem.made()) return;
  CHECK(problem.kind != nullptr, "'{}' has nobody who makes it", problem.text);
  problem.kind->make(problem, threads);
}

std::int64_t fewer_rows(const Problem& problem) {
  if (problem.rows < 2) return 0;
  const std::int64_t odd = (problem.rows - (problem.rows + 4) / 5 - 1) | 1;
  std::int64_t expected = 0;
  for (const Argument& argument : problem.arguments)
    for (const std::int64_t index : argument.indices)
      if (const std::int64_t row = index / (argument.elements / problem.rows); row < odd)
        expected = std::max(expected, row + 1);
  return expected > 0 ? expected : odd;
}

}  // namespace lehr
