#include "measure/core/problem.h"

#include <utility>

#include "base/error.h"
#include "workload/reference.h"

namespace lehr {

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
  problem.workload = workload;
  problem.seed = seed;
  problem.tensors = problem_tensors(workload, std::vector<std::vector<float>>(tensors_of(workload).size()));
  return problem;
}

Problem other_problem(const Workload& workload, std::uint64_t seed) {
  constexpr double kFewFlops = 2e8;
  constexpr std::uint64_t kOther = 0x6C656872;  // any number: seeds of sessions are small ones
  Problem problem = asked_problem(workload, seed ^ kOther);
  problem.full_flops = kFewFlops;
  return problem;
}

void make(Problem& problem, int threads) {
  if (problem.made()) return;
  std::vector<std::vector<float>> inputs = make_inputs(problem.workload, problem.seed, threads);
  Reference reference = make_reference(problem.workload, inputs, problem.full_flops);
  problem.tensors = problem_tensors(problem.workload, std::move(inputs));
  problem.indices = std::move(reference.indices);
  problem.expected = std::move(reference.values);
  problem.tolerance = reference.tolerance;
}

}  // namespace lehr
