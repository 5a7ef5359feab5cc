// The distribution of inputs for a conclusive check of integers: a few bits hold the results.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/epilogue.h"
#include "workload/tensor.h"
#include "workload/tolerance.h"

namespace lehr {

/// Sets how the inputs of a workload with sums in s32 are drawn, if they are of u8, have a zero point or an
/// epilogue; others are as usual. `tensors` is its tensors_of(). The second operand is as wide as the first
/// one, up to lengths at which sums would reach 2^24: the expected values (f32) are exact. Operands that are
/// combined with the sums are scaled by the sums' deviation, so that values behind a dequant are about as
/// large as those of floats.
void set_draws(const ProductSums& sums, const Epilogue& epilogue, std::vector<TensorSpec>& tensors);

/// Returns a bound on the size of each of `count` such sums, in units of their deviation.
double largest_of_integers(const ProductSums& sums, std::int64_t count);

}  // namespace lehr
