// The distribution of inputs with which a check of integers is conclusive, although results have only a few
// bits.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/epilogue.h"
#include "workload/tensor.h"
#include "workload/tolerance.h"

namespace lehr {

/// Sets how the inputs of a workload with sums in s32 are drawn, if they are of u8, or the workload has a
/// zero point or an epilogue; all other inputs are drawn as usual. `tensors` is tensors_of() of the workload.
/// The second operand has the same deviation as the first one, unless sums would reach 2^24, beyond which the
/// expected values (f32) are not exact. Operands that are combined with the sums are scaled by the sums'
/// deviation, so that values after a dequant are about as large as those of floats.
void set_draws(const ProductSums& sums, const Epilogue& epilogue, std::vector<TensorSpec>& tensors);

/// Returns a bound on the absolute value of each of `count` such sums, in units of their deviation.
double largest_of_integers(const ProductSums& sums, std::int64_t count);

}  // namespace lehr
