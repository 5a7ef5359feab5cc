// Expressions as nobody builds them: nothing is folded.
#pragma once

#include <algorithm>
#include <utility>

#include "ir/expr.h"

namespace lehr::ir {

/// The operation as it stands.
inline Expr unfolded(BinaryOp op, Expr a, Expr b) {
  const int depth = 1 + std::max(a.depth(), b.depth());
  const bool is_index = a.is_index() && b.is_index();
  return Expr(new Operation(Binary{op, std::move(a), std::move(b)}, depth, is_index, false));
}

}  // namespace lehr::ir
