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

Problem problem_for(const Workload& workload, std::uint64_t seed, double full_flops) {
  std::vector<std::vector<float>> inputs = make_inputs(workload, seed);
  Reference reference = make_reference(workload, inputs, full_flops);
  return {.workload = workload,
          .seed = seed,
          .tensors = problem_tensors(workload, std::move(inputs)),
          .indices = std::move(reference.indices),
          .expected = std::move(reference.values),
          .tolerance = reference.tolerance};
}

Problem other_problem_for(const Workload& workload, std::uint64_t seed) {
  constexpr double kFewFlops = 2e8;
  constexpr std::uint64_t kOther = 0x6C656872;  // any number: seeds of sessions are small ones
  return problem_for(workload, seed ^ kOther, kFewFlops);
}

}  // namespace lehr
