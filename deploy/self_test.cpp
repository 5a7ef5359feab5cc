#include "deploy/self_test.h"

#include <algorithm>
#include <cmath>

#include "runtime/self_test.h"
#include "workload/operator.h"

namespace lehr {
namespace {

constexpr std::size_t kMostSamples = 16;
constexpr double kFullFlops = 1e6;  // for larger workloads the reference computes only some rows

/// Returns the mean and the spread of the values that are drawn for a check.
std::pair<double, double> spread_of(const TensorSpec& tensor) {
  const Draw& draw = tensor.draw;
  switch (draw.kind) {
    case Draw::Kind::kNormal:
      return {draw.mean, draw.deviation};
    case Draw::Kind::kScale:  // the magnitude of self_test_input() is at most 1.5
      return {draw.deviation * (kMostScaling + kLeastScaling) / 2,
              draw.deviation * (kMostScaling - kLeastScaling) / 3};
    case Draw::Kind::kZeroPoint:
      return {static_cast<double>(zero_point(tensor.type, kZeroPoints / 2)), 0};
  }
  return {};
}

/// Returns the number of rows for the test of a kernel: a prime, which no tile's height divides, below the
/// most rows of a call. Returns 0 if the number of rows is fixed.
std::int64_t tested_rows(const Workload& workload) {
  constexpr std::int64_t kPrimes[] = {61, 59, 53, 47, 43, 41, 37, 31, 29, 23, 19, 17, 13, 11, 7, 5, 3, 2, 1};
  const CallRows counts = call_rows(workload);
  if (!counts.any) return 0;
  return *std::ranges::find_if(kPrimes, [&](std::int64_t rows) { return rows < counts.most || rows == 1; });
}

/// Returns the largest error that rounding to the output's type may cause in any of the values.
double rounding_of(DType output, const Reference& reference) {
  double largest = 0;
  for (const float value : reference.values)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(static_cast<double>(value)));
  if (output == DType::kBF16) return 0x1p-8 * largest;  // half a unit in the last place
  const bool is_narrow = output == DType::kU8 || output == DType::kS8;
  return is_narrow && reference.tolerance > 0 ? 0.5 : 0;
}

TestedOutput tested_output(DType type, const Reference& reference) {
  TestedOutput output;
  output.tolerance = reference.tolerance + rounding_of(type, reference);
  for (const float bound : reference.bounds)
    if (std::isfinite(bound)) output.tolerance = std::max(output.tolerance, static_cast<double>(bound));
  const std::size_t known = reference.values.size(), count = std::min(known, kMostSamples);
  for (std::size_t i = 0; i < count; ++i) {
    // Samples are the first value, the last value, and values at equal distances between them.
    const std::size_t at = count == 1 ? 0 : i * (known - 1) / (count - 1);
    // A self-test only compares finite numbers.
    if (!std::isfinite(reference.values[at]) ||
        (!reference.bounds.empty() && std::isinf(reference.bounds[at])))
      continue;
    output.elements.emplace_back(
        reference.indices.empty() ? static_cast<std::int64_t>(at) : reference.indices[at],
        reference.values[at]);
  }
  return output;
}

}  // namespace

std::vector<std::vector<float>> known_inputs(std::span<const TensorSpec> tensors) {
  std::vector<std::vector<float>> inputs;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    std::vector<float>& values = inputs.emplace_back();
    if (tensors[i].is_output()) continue;
    const auto [mean, deviation] = spread_of(tensors[i]);
    const runtime::TestedType& type = *runtime::tested_type(name_of(tensors[i].type));
    values.resize(static_cast<std::size_t>(tensors[i].elements));
    for (std::size_t j = 0; j < values.size(); ++j)
      values[j] = runtime::self_test_value(type, static_cast<std::uint32_t>(i), j, mean, deviation);
  }
  return inputs;
}

SelfTest self_test_of(std::span<const TensorSpec> tensors, const std::vector<Reference>& outputs) {
  SelfTest test;
  for (const TensorSpec& tensor : tensors) {
    test.inputs.push_back(tensor.is_output() ? std::pair(0.0, 1.0) : spread_of(tensor));
    if (tensor.is_output())
      test.outputs.push_back(tested_output(tensor.type, outputs.at(test.outputs.size())));
  }
  if (std::ranges::all_of(test.inputs, [](const auto& each) { return each == std::pair(0.0, 1.0); }))
    test.inputs.clear();
  return test;
}

std::optional<SelfTest> self_test_of(const Workload& asked) {
  const std::int64_t rows = tested_rows(asked);
  const Workload workload = rows > 0 ? with_rows(asked, rows) : asked;
  const std::vector<TensorSpec> tensors = tensors_of(workload);
  if (!std::ranges::all_of(tensors, [](const TensorSpec& tensor) {
        return runtime::tested_type(name_of(tensor.type)) != nullptr;
      }))
    return std::nullopt;
  SelfTest test = self_test_of(tensors, make_references(workload, known_inputs(tensors), kFullFlops));
  test.rows = rows;
  return test;
}

}  // namespace lehr
