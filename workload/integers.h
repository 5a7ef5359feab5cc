// What makes a check of integers tell: how its inputs are spread, so that a few bits hold what becomes of
// them.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/epilogue.h"
#include "workload/tensor.h"
#include "workload/tolerance.h"

namespace lehr {

/// Sets how the inputs are drawn, tensors_of() a workload with sums in s32, where they are of u8, have a zero
/// point or an epilogue: others are as usual. The second operand is as wide as the first one, up to
/// lengths at which sums would reach 2^24: the expected values (f32) are exact. What belongs to the sums goes
/// by their deviation: behind a dequant values are about as large as those of floats.
void set_draws(const ProductSums& sums, const Epilogue& epilogue, std::vector<TensorSpec>& tensors);

/// Bound on the size of each of `count` such sums, drawn so, in the unit of their deviation.
double largest_of_integers(const ProductSums& sums, std::int64_t count);

}  // namespace lehr
