// A tensor of a workload, and the dimensions of one.
#pragma once

#include <cstdint>
#include <string>

#include "base/dtype.h"
#include "workload/draw.h"

namespace lehr {

/// What a tensor is to a workload.
enum class TensorRole {
  kInput,   ///< of the operator
  kOutput,  ///< of the operator: one at least
  kOperand  ///< read by the epilogue
};

/// A tensor of the workload, in argument order: those of the operator (a, b, c; or x, f, y: input, filter,
/// output), the zero point of the first one where it has one (a_zero, x_zero), then the operands of the
/// epilogue.
struct TensorSpec {
  std::string name;
  DType type = DType::kF32;
  std::int64_t elements = 0;
  TensorRole role = TensorRole::kInput;
  bool constant = false;  ///< stays the same from call to call: a filter, a constant B
  Draw draw = {};         ///< of an input, in tensors_of() a workload
  /// Elements of a row, where rows are drawn in different ways (drawn_in_row()); 0: all alike.
  std::int64_t row = 0;
  bool is_output() const { return role == TensorRole::kOutput; }
};

/// A dimension of a tensor, in elements.
struct Dimension {
  std::int64_t size = 1, stride = 1;
  std::int64_t part = 0;  ///< groups of channels begin so far apart; 0 where there are none
};

}  // namespace lehr
