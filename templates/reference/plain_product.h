// Any operator of products as one kind of product (rows times columns of sums), with the positions of its
// elements in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "ir/expr.h"
#include "workload/workload.h"

namespace lehr {

/// Position of one product among several. All indices in this file are in range.
struct PlainPlace {
  ir::Expr matrix = ir::integer(0);  ///< number among PlainProduct::matrices
  ir::Expr group = ir::integer(0);   ///< number among PlainProduct::groups
  /// For a pool: the pixel within its window.
  ir::Expr window_row = ir::integer(0), window_column = ir::integer(0);
};

/// An element of an operand. It counts as zero if `inside` is false.
struct PlainElement {
  ir::Expr index = ir::integer(0);
  std::optional<ir::Expr> inside = std::nullopt;  ///< nullopt: always inside
};

/// A product. For a GEMM it has the matrices, rows and columns of the GEMM. For a convolution, the rows are
/// the output pixels (after a pool) of all images one after the other, the columns are the output channels of
/// a group, and k runs over the products in the order of the filters in memory.
struct PlainProduct {
  std::int64_t matrices = 1, rows = 1;
  std::int64_t groups = 1, columns = 1;  ///< number of columns of sums in one group
  std::int64_t depth = 1;                ///< number of products in a sum
  /// Extent of a pool's window: there is a sum for each of window x window pixels.
  std::int64_t window = 1;
  /// Whether neighbours along k are neighbours in the operand's memory.
  bool a_along_k = false, b_along_k = false;
  std::function<PlainElement(const PlainPlace& at, const ir::Expr& row, const ir::Expr& k)> a;
  std::function<ir::Expr(const PlainPlace& at, const ir::Expr& k, const ir::Expr& column)> b;
  /// Returns the index of the output's element. `column` counts columns of the output; behind a gate these
  /// are half as many as columns of sums.
  std::function<ir::Expr(const PlainPlace& at, const ir::Expr& row, const ir::Expr& column)> output;
};

/// Returns nullopt if the operator has no products, or if 32-bit indices cannot reach the padding.
std::optional<PlainProduct> plain_product(const Workload& workload);

}  // namespace lehr
