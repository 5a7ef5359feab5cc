#include "measure/core/problem.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error.h"
#include "workload/reference.h"

namespace lehr {

using Clock = std::chrono::steady_clock;

std::vector<ProblemTensor> problem_tensors(const Workload& workload, std::vector<std::vector<float>> inputs) {
  const std::vector<TensorSpec> specs = tensors_of(workload);
  CHECK(inputs.size() == specs.size(), "{} inputs for {} tensors", inputs.size(), specs.size());
  std::vector<ProblemTensor> tensors;
  for (std::size_t i = 0; i < specs.size(); ++i)
    tensors.push_back({.type = specs[i].type,
                       .elements = specs[i].elements,
                       .output = specs[i].is_output(),
                       .values = std::move(inputs[i])});
  return tensors;
}

Problem asked_problem(const Workload& workload, std::uint64_t seed) {
  Problem problem;
  problem.text = to_text(workload);
  problem.rows = rows_of(workload);
  problem.flops = flops_of(workload);
  problem.bytes = min_bytes_of(workload);
  problem.workload = fixed_rows(workload);
  problem.seed = seed;
  problem.tensors = problem_tensors(workload, std::vector<std::vector<float>>(tensors_of(workload).size()));
  return problem;
}

Problem other_problem(const Workload& workload, std::uint64_t seed) {
  constexpr std::uint64_t kOther = 0x6C656872;  // any number: seeds of sessions are small ones
  Problem problem = asked_problem(workload, seed ^ kOther);
  problem.full_flops = kOtherFlops;
  return problem;
}

Problem first_rows(const Problem& problem, std::int64_t rows) {
  Problem first = asked_problem(with_rows(problem.workload, rows), problem.seed);
  first.tolerance = problem.tolerance;
  const std::vector<TensorSpec> specs = tensors_of(first.workload);
  const std::int64_t elements = std::ranges::find_if(specs, &TensorSpec::is_output)->elements;
  for (std::size_t i = 0; i < problem.expected.size(); ++i) {
    const std::int64_t at = problem.indices.empty() ? static_cast<std::int64_t>(i) : problem.indices[i];
    if (at >= elements) continue;
    first.expected.push_back(problem.expected[i]);
    if (!problem.indices.empty()) first.indices.push_back(at);
  }
  return first;
}

std::int64_t fewer_rows(const Problem& problem) {
  const std::int64_t rows = rows_of(problem.workload);
  if (rows < 2) return 0;
  const std::int64_t odd = (rows - (rows + 4) / 5 - 1) | 1;
  const auto output = std::ranges::find_if(problem.tensors, &ProblemTensor::output);
  std::int64_t expected = 0;
  for (const std::int64_t index : problem.indices)
    if (const std::int64_t row = index / (output->elements / rows); row < odd)
      expected = std::max(expected, row + 1);
  return expected > 0 ? expected : odd;
}

std::vector<std::vector<float>> inputs_of(Problem& problem, int threads) {
  const auto start = Clock::now();
  std::vector<std::vector<float>> inputs = make_inputs(problem.workload, problem.seed, threads);
  problem.inputs_s = std::chrono::duration<double>(Clock::now() - start).count();
  return inputs;
}

void make(Problem& problem, int threads) {
  if (problem.made()) return;
  std::vector<std::vector<float>> inputs = inputs_of(problem, threads);
  const auto start = Clock::now();
  Reference reference = make_reference(problem.workload, inputs, problem.full_flops);
  problem.expected_s = std::chrono::duration<double>(Clock::now() - start).count();
  problem.tensors = problem_tensors(problem.workload, std::move(inputs));
  problem.indices = std::move(reference.indices);
  problem.expected = std::move(reference.values);
  problem.tolerance = reference.tolerance;
}

}  // namespace lehr
