// An expression over the elements of rows, with reductions along them: sizes, tensors, text, and values
// derived from them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "workload/epilogue.h"
#include "workload/rowwise/row_expression.h"
#include "workload/tensor.h"
#include "workload/tolerance.h"

namespace lehr {

/// A tensor that an expression names: lines of n columns, or of one value.
struct RowTensor {
  /// Which line of the tensor row r reads or writes.
  enum class Line {
    kRow,      ///< line r
    kOnly,     ///< the only line
    kDivided,  ///< line r / period
    kModulo    ///< line r mod period
  };
  std::string name;
  DType type = DType::kF32;  ///< f32 or bf16
  bool varies = true;        ///< whether a line has n values, one per column; otherwise it has one value
  Line line = Line::kRow;
  std::int64_t period = 0;
  friend bool operator==(const RowTensor&, const RowTensor&) = default;
};

/// Computes `expression` in f32 for each of m rows. Each call may have any number of rows; kernels are tuned
/// for m rows. If a tensor has one line for every `period` rows (kDivided), each call has m rows.
struct Rowwise {
  std::int64_t m = 0, n = 0;
  std::vector<RowTensor> in, out;
  std::string expression;  ///< canonical (row_expression.h)
  /// Rows of the described call ("rows=24"); 0: it has m rows.
  std::int64_t rows = 0;
  friend bool operator==(const Rowwise&, const Rowwise&) = default;
};

/// Returns "x:f32", "b:f32:column", "s:f32:number", "k:bf16:column/512", "t:f32:row%4", ...
std::string to_text(const RowTensor& tensor);
/// Parses what to_text() writes. Throws Error(kUser), one sentence.
RowTensor parse_row_tensor(std::string_view text);

/// Returns the nodes of the workload's expression. Throws Error(kUser), one sentence.
RowExpression expression_of(const Rowwise& rowwise);
/// Returns whether a call may have any number of rows.
bool any_rows(const Rowwise& rowwise);
/// Returns the number of lines that a tensor has for `rows` rows.
std::int64_t lines_of(const RowTensor& tensor, std::int64_t rows);
/// Returns the operations for one element of a node. Reductions and functions count as several operations.
double flops_of(const RowNode& node);

/// The functions of the same name for a workload (workload.h) or an operator's table (operator.h).
void validate(const Rowwise& rowwise);
std::vector<TensorSpec> tensors_of(const Rowwise& rowwise);
std::vector<Dimension> shape_of(const Rowwise& rowwise, const Epilogue& epilogue);
/// Returns the shapes of all tensors, outputs among them.
std::vector<std::vector<Dimension>> input_shapes_of(const Rowwise& rowwise);
void set_types(Rowwise& rowwise, DType inputs, DType output);
std::int64_t channels_of(const Rowwise& rowwise);
ProductSums product_sums(const Rowwise& rowwise);
std::string_view sliced_size(const Rowwise& rowwise);
double flops_of(const Rowwise& rowwise);
std::int64_t rows_of(const Rowwise& rowwise);

}  // namespace lehr
