// A workload of any operator of products as one kind of product: rows times columns of sums, and the
// positions of the elements.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "ir/expr.h"
#include "workload/workload.h"

namespace lehr {

/// Position of one of several products. All indices below are in range.
struct PlainPlace {
  ir::Expr matrix = ir::integer(0);  ///< number among PlainProduct::matrices
  ir::Expr group = ir::integer(0);   ///< number among PlainProduct::groups
  ir::Expr window_row = ir::integer(0), window_column = ir::integer(0);  ///< pixel of a pool's windows
};

/// An element of an operand. It counts as zero if `inside` is false.
struct PlainElement {
  ir::Expr index = ir::integer(0);
  std::optional<ir::Expr> inside = std::nullopt;  ///< nullopt: always
};

/// A product. For a GEMM: its matrices, rows and columns. For a convolution: rows are the pixels of the
/// output (after a pool), of one image after the other; columns are the output channels of a group; k counts
/// the products in the order of the filters in memory.
struct PlainProduct {
  std::int64_t matrices = 1, rows = 1;
  std::int64_t groups = 1, columns = 1;       ///< columns of sums, of one group
  std::int64_t depth = 1;                     ///< products of a sum
  std::int64_t window = 1;                    ///< window of a pool: a sum for each of window x window pixels
  bool a_along_k = false, b_along_k = false;  ///< whether k is the index by which neighbours in memory differ
  std::function<PlainElement(const PlainPlace& at, const ir::Expr& row, const ir::Expr& k)> a;
  std::function<ir::Expr(const PlainPlace& at, const ir::Expr& k, const ir::Expr& column)> b;
  /// `column` is one of the output. Behind a gate there are half as many as columns of sums.
  std::function<ir::Expr(const PlainPlace& at, const ir::Expr& row, const ir::Expr& column)> output;
};

/// Returns nullopt for an operator without products, and where 32-bit indices do not reach the padding.
std::optional<PlainProduct> plain_product(const Workload& workload);

}  // namespace lehr
