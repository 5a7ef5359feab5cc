#include "deploy/self_test.h"

#include <algorithm>

#include "runtime/self_test.h"
#include "workload/operator.h"
#include "workload/reference.h"

namespace lehr {
namespace {

constexpr std::size_t kMostSamples = 16;
constexpr double kFullFlops = 1e6;  // beyond, the reference computes some rows only

std::vector<std::vector<float>> known_inputs(const std::vector<TensorSpec>& tensors) {
  std::vector<std::vector<float>> inputs;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    std::vector<float>& values = inputs.emplace_back();
    if (tensors[i].is_output()) continue;
    values.resize(static_cast<std::size_t>(tensors[i].elements));
    for (std::size_t j = 0; j < values.size(); ++j)
      values[j] = runtime::self_test_input(static_cast<std::uint32_t>(i), j);
  }
  return inputs;
}

}  // namespace

std::optional<SelfTest> self_test_of(const Workload& workload) {
  const std::vector<TensorSpec> tensors = tensors_of(workload);
  if (!std::ranges::all_of(tensors, [](const TensorSpec& tensor) { return tensor.type == DType::kF32; }))
    return std::nullopt;
  const Reference reference = make_reference(workload, known_inputs(tensors), kFullFlops);
  SelfTest test;
  test.tolerance = reference.tolerance;
  const std::size_t known = reference.values.size(), count = std::min(known, kMostSamples);
  for (std::size_t i = 0; i < count; ++i) {
    // The first, the last, and what lies evenly between them.
    const std::size_t at = count == 1 ? 0 : i * (known - 1) / (count - 1);
    test.output.emplace_back(
        reference.indices.empty() ? static_cast<std::int64_t>(at) : reference.indices[at],
        reference.values[at]);
  }
  return test;
}

}  // namespace lehr
