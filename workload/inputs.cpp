#include "workload/inputs.h"

#include "base/in_parts.h"
#include "workload/workload.h"

namespace lehr {
namespace {

void fill(const TensorSpec& tensor, std::uint64_t key, const std::vector<float>& table, std::int64_t first,
          std::int64_t last, float* to) {
  if (table.empty()) {
    for (std::int64_t i = first; i < last; ++i)
      to[i] = drawn_value(tensor.type, tensor.draw, input_step(key, i));
    return;
  }
  for (std::int64_t i = first; i < last; ++i) to[i] = table[static_cast<std::size_t>(input_step(key, i))];
}

}  // namespace

std::uint64_t input_key(std::uint64_t seed, std::string_view tensor) {
  return mix64(seed ^ stable_hash(tensor));
}

std::vector<float> input_values(DType type, const Draw& draw) {
  std::vector<float> values(static_cast<std::size_t>(kInputSteps));
  for (std::int64_t step = 0; step < kInputSteps; ++step)
    values[static_cast<std::size_t>(step)] = drawn_value(type, draw, step);
  return values;
}

std::vector<MadeInput> made_inputs(const Workload& workload, std::uint64_t seed) {
  std::vector<MadeInput> inputs;
  for (const TensorSpec& tensor : tensors_of(workload))
    inputs.push_back(tensor.is_output() ? MadeInput() : MadeInput(seed, tensor));
  return inputs;
}

std::vector<std::vector<float>> make_inputs(const Workload& workload, std::uint64_t seed, int threads) {
  std::vector<std::vector<float>> inputs;
  for (const TensorSpec& tensor : tensors_of(workload)) {
    std::vector<float>& values = inputs.emplace_back();
    if (tensor.is_output()) continue;
    values.resize(static_cast<std::size_t>(tensor.elements));
    const std::uint64_t key = input_key(seed, tensor.name);
    // A table is faster than rounding each value, but making it does not pay for few elements.
    const std::vector<float> table =
        tensor.elements > kInputSteps ? input_values(tensor.type, tensor.draw) : std::vector<float>();
    in_parts(tensor.elements, parts_of(tensor.elements, threads),
             [&](int, std::int64_t first, std::int64_t last) {
               fill(tensor, key, table, first, last, values.data());
               for (std::int64_t i = first; tensor.row > 0 && i < last; ++i)
                 values[static_cast<std::size_t>(i)] =
                     drawn_in_row(tensor.type, values[static_cast<std::size_t>(i)], seed, tensor.row, i);
             });
  }
  return inputs;
}

}  // namespace lehr
