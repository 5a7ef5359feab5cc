// An epilogue in double precision, and its effect on error bounds. For the operators' references.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workload/epilogue.h"
#include "workload/tolerance.h"

namespace lehr {

/// Applies the steps to one exact sum, up to a gate or a pool. `operands` are in the order of operands_of():
/// an operand with one element per channel is read at `channel`, one with an element per output element at
/// `element`. Operand is std::vector<float> or MadeInput. After a dequant, each exact step
/// (EpilogueRow::exact) is rounded to f32, up to the first step that is not exact. After such a step, a quant
/// does not round.
template <typename Operand>
double reference_value(const Epilogue& epilogue, double sum, std::span<const Operand> operands,
                       std::int64_t channel, std::int64_t element);

/// Applies a gate to the results that the earlier steps gave for the two sums.
double reference_gated(const Epilogue& epilogue, double gate, double value);

/// Applies a pool, and a quant after it, to the results that the earlier steps gave for the sums of a window.
template <typename Operand>
double reference_pooled(const Epilogue& epilogue, std::span<const double> window,
                        std::span<const Operand> operands);

/// Returns the value as an output of this type stores it: integers of 8 bits saturate.
float reference_stored(DType output, double value);

/// Returns the operands of the epilogue, which are the last inputs of a workload.
template <typename Operand>
std::span<const Operand> epilogue_inputs(const Epilogue& epilogue, std::span<const Operand> inputs) {
  return inputs.last(operands_of(epilogue).size());
}

/// Returns the number of sums from which `elements` elements of the output are computed.
std::int64_t sums_of(const Epilogue& epilogue, std::int64_t elements);

/// Returns a bound on the error of the result, if the sum has an error of at most `tolerance` and an absolute
/// value of at most `largest`. The arithmetic has this `epsilon`, and operands are made by make_inputs(). For
/// sums of integers, `largest` is in units of the operands' draws (EpilogueOperand::draw), and exact steps
/// add no error.
double tolerance_behind(const Epilogue& epilogue, double tolerance, double largest, double epsilon);

/// Returns the bound for `count` exact sums of integers: 0 if there is no dequant, or if each step after it
/// is exact. For outputs of u8 and s8, the bound applies before they are rounded to integers.
double tolerance_behind_integers(const Epilogue& epilogue, const ProductSums& sums, std::int64_t count);

/// Returns the bound in f32, if `sums` sums of `products` products each have errors of at most `tolerance`
/// and are then scaled.
double tolerance_behind_sums(const Epilogue& epilogue, double tolerance, std::int64_t products,
                             std::int64_t sums, float scale = 1);

}  // namespace lehr
