// A tensor of a workload, and the dimensions of one.
#pragma once

#include <cstdint>
#include <string>

#include "base/dtype.h"
#include "workload/draw.h"

namespace lehr {

/// The role of a tensor in a workload.
enum class TensorRole {
  kInput,   ///< input of the operator
  kOutput,  ///< output of the operator: at least one
  kOperand  ///< input that the epilogue reads
};

/// A tensor of the workload. The order of the arguments is: the operator's tensors (a, b, c, or x, f, y:
/// input, filter, output), the zero point of the first one if it has one (a_zero, x_zero), and the operands
/// of the epilogue.
struct TensorSpec {
  std::string name;
  DType type = DType::kF32;
  std::int64_t elements = 0;
  TensorRole role = TensorRole::kInput;
  bool constant = false;  ///< whether it stays the same from call to call, e.g. a filter or a constant B
  Draw draw = {};         ///< how an input is drawn; set by tensors_of()
  /// Elements of a row if each row is drawn differently (drawn_in_row()); 0: all elements are drawn alike.
  std::int64_t row = 0;
  bool is_output() const { return role == TensorRole::kOutput; }
};

/// A dimension of a tensor, in elements.
struct Dimension {
  std::int64_t size = 1, stride = 1;
  std::int64_t part = 0;  ///< distance between the beginnings of groups of channels; 0: no groups
};

}  // namespace lehr
