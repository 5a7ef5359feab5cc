// An epilogue in double precision, and its effect on the bound of an error, for the operators' references.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workload/epilogue.h"
#include "workload/tolerance.h"

namespace lehr {

/// Applies the steps to one exact sum, up to a gate or a pool. `operands` are in the order of operands_of():
/// operands of channels are read at `channel`, operands of elements at `element`. Operand: std::vector<float>
/// or MadeInput. From a dequant on each exact step (EpilogueRow::exact) is rounded to f32, until one is not
/// exact: behind that a quant does not round.
template <typename Operand>
double reference_value(const Epilogue& epilogue, double sum, std::span<const Operand> operands,
                       std::int64_t channel, std::int64_t element);

/// Applies the last step of a gated epilogue to the results of the steps before it for the two sums.
double reference_gated(const Epilogue& epilogue, double gate, double value);

/// Applies the pool, and a quant behind it, to the results of the steps before it for a window's sums.
template <typename Operand>
double reference_pooled(const Epilogue& epilogue, std::span<const double> window,
                        std::span<const Operand> operands);

/// Returns the expected value of an element of such an output: integers of 8 bits saturate.
float reference_stored(DType output, double value);

/// Returns the operands, which are the last of a workload's inputs.
template <typename Operand>
std::span<const Operand> epilogue_inputs(const Epilogue& epilogue, std::span<const Operand> inputs) {
  return inputs.last(operands_of(epilogue).size());
}

/// Returns how many sums `elements` elements of the output are made from.
std::int64_t sums_of(const Epilogue& epilogue, std::int64_t elements);

/// Returns a bound on the error of the result if the sum is off by `tolerance` and at most `largest` in size,
/// computed in arithmetic of this `epsilon`, with operands as make_inputs() makes them. For sums of integers
/// `largest` is in units of their operands (EpilogueOperand::draw), and exact steps add nothing.
double tolerance_behind(const Epilogue& epilogue, double tolerance, double largest, double epsilon);

/// Returns the bound for `count` exact sums of integers: 0 if there is no dequant, or each step behind it is
/// exact. For outputs of u8 and s8 it is the bound before they are rounded to integers.
double tolerance_behind_integers(const Epilogue& epilogue, const ProductSums& sums, std::int64_t count);

/// Returns the bound in f32 if `sums` sums of `products` products each are off by `tolerance` and then
/// scaled.
double tolerance_behind_sums(const Epilogue& epilogue, double tolerance, std::int64_t products,
                             std::int64_t sums, float scale = 1);

}  // namespace lehr
