// The contents of tensors when a kernel is checked and timed. Each element is a function of seed, tensor and
// index, so that any range can be made anywhere: by any number of threads, on the host and on a device.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/input_step.h"
#include "workload/tensor.h"

namespace lehr {

struct Workload;

/// Returns the initial value of the generator for one tensor.
std::uint64_t input_key(std::uint64_t seed, std::string_view tensor);

/// Returns drawn_value() for all numbers of the generator, in order.
std::vector<float> input_values(DType type, const Draw& draw);

/// An input whose elements are made on request. For inputs of which only a few or scattered elements are
/// read.
class MadeInput {
 public:
  /// Makes an input that belongs to no tensor.
  MadeInput() = default;
  MadeInput(std::uint64_t seed, const TensorSpec& tensor)
      : seed_(seed),
        key_(input_key(seed, tensor.name)),
        type_(tensor.type),
        row_(tensor.row),
        values_(input_values(tensor.type, tensor.draw)) {}
  float operator[](std::size_t index) const {
    const auto at = static_cast<std::int64_t>(index);
    const float value = values_[static_cast<std::size_t>(input_step(key_, at))];
    return row_ == 0 ? value : drawn_in_row(type_, value, seed_, row_, at);
  }

 private:
  std::uint64_t seed_ = 0, key_ = 0;
  DType type_ = DType::kF32;
  std::int64_t row_ = 0;
  std::vector<float> values_;
};
/// Returns the inputs in the order of make_inputs().
std::vector<MadeInput> made_inputs(const Workload& workload, std::uint64_t seed);

/// Returns the data of each of tensors_of() (outputs are empty), made by `threads` threads according to
/// TensorSpec::draw. Most of it is Normal(0,1)-like, because zeros or small integers make GPUs look faster
/// than they are: an A100 by 15 % at 8192 cubed (Horace He, "Strangely, matrix multiplications on GPUs run
/// faster when given predictable data").
std::vector<std::vector<float>> make_inputs(const Workload& workload, std::uint64_t seed, int threads = 1);

}  // namespace lehr
