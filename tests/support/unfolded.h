// Expressions without any folding. The builders of ir/ make no such expressions.
#pragma once

#include <algorithm>
#include <utility>

#include "ir/expr.h"

namespace lehr::ir {

/// Returns the operation without simplifying it.
inline Expr unfolded(BinaryOp op, Expr a, Expr b) {
  const int depth = 1 + std::max(a.depth(), b.depth());
  const bool is_index = a.is_index() && b.is_index();
  return Expr(new Operation(Binary{op, std::move(a), std::move(b)}, depth, is_index, false));
}

}  // namespace lehr::ir
