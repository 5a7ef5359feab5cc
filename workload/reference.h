// The answer that candidates are compared with, computed in double precision.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/workload.h"

namespace lehr {

/// Input data by tensor, in the order of tensors_of() (outputs empty); each as f32 values that the dtype can
/// hold. Normal(0,1)-like (zeros or small integers make GPUs look faster than they are: an A100 by 15 % at
/// 8192 cubed, Horace He, "Strangely, matrix multiplications on GPUs run faster when given predictable
/// data").
std::vector<std::vector<float>> make_inputs(const Workload& workload, std::uint64_t seed);

/// Expected output elements. `indices` empty: every element, in order. Otherwise only those flat indices.
struct Reference {
  std::vector<std::int64_t> indices;
  std::vector<float> values;
  /// Bound on each element's |result - expected|, before the result is rounded to an output of 16 bits. By
  /// types, length of the sums and how many values there are: the largest error of all right ones exceeds it
  /// once in a million checks (tolerance.h, winograd.h; reference_epilogue.h for what follows the sums).
  double tolerance = 0;
};

/// Full for up to `full_flops` operations, else whole rows of C: the first, the last and evenly spread ones
/// between them that are shifted by pseudo-random offsets, so that every column tile and most row tiles are
/// seen.
Reference make_reference(const Workload& workload, const std::vector<std::vector<float>>& inputs,
                         double full_flops = 8e9);

/// Those of the operators, for their tables (operator.h).
Reference gemm_reference(const Workload& workload, const std::vector<std::vector<float>>& inputs,
                         double full_flops);
Reference conv2d_reference(const Workload& workload, const std::vector<std::vector<float>>& inputs,
                           double full_flops);

}  // namespace lehr
