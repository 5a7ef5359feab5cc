// An epilogue in double precision, and what it does to the bound of an error, for the operators' references.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workload/epilogue.h"
#include "workload/tolerance.h"

namespace lehr {

/// The steps applied to one exact sum, up to a gate or a pool. `operands` in the order of operands_of(): the
/// channels' ones are read at `channel`, those of elements at `element`. Operand: std::vector<float> or
/// MadeInput. From a dequant on each exact step (EpilogueRow::exact) is rounded to f32, until one is not
/// exact: behind that a quant does not round.
template <typename Operand>
double reference_value(const Epilogue& epilogue, double sum, std::span<const Operand> operands,
                       std::int64_t channel, std::int64_t element);

/// The last step of a gated epilogue, of what the steps before it make of the two sums.
double reference_gated(const Epilogue& epilogue, double gate, double value);

/// The pool, and a quant behind it, of what the steps before it make of a window's sums.
template <typename Operand>
double reference_pooled(const Epilogue& epilogue, std::span<const double> window,
                        std::span<const Operand> operands);

/// What an element of such an output is expected to be: integers of 8 bits saturate.
float reference_stored(DType output, double value);

/// The operands are the last of a workload's inputs.
template <typename Operand>
std::span<const Operand> epilogue_inputs(const Epilogue& epilogue, std::span<const Operand> inputs) {
  return inputs.last(operands_of(epilogue).size());
}

/// Sums of which so many elements of the output are made.
std::int64_t sums_of(const Epilogue& epilogue, std::int64_t elements);

/// Bound on the error of the result where the sum is off by `tolerance` and at most `largest` in size,
/// computed in arithmetic of this `epsilon`, with operands as make_inputs() makes them. Of sums of integers
/// `largest` is in the unit of their operands (EpilogueOperand::draw), and exact steps add nothing.
double tolerance_behind(const Epilogue& epilogue, double tolerance, double largest, double epsilon);

/// Of `count` exact sums of integers: 0 where each step behind a dequant is exact, and where there is none.
/// Of outputs of u8 and s8 it is that of what is then rounded to integers.
double tolerance_behind_integers(const Epilogue& epilogue, const ProductSums& sums, std::int64_t count);

/// The same in f32 where `sums` sums of `products` products each are off by `tolerance` and then scaled.
double tolerance_behind_sums(const Epilogue& epilogue, double tolerance, std::int64_t products,
                             std::int64_t sums, float scale = 1);

}  // namespace lehr
