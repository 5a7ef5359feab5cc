// Two-sided transforms of minimal filtering (winograd.h) on scalars in registers.
#pragma once

#include <cstddef>
#include <functional>

#include "ir/kernel.h"
#include "templates/shared/winograd.h"

namespace lehr {

/// Computes `matrix` T `matrix`^T. `at` returns element (i, j) of T, which is read once; `put` stores element
/// (i, j) of the result. Indices that are expressions become constants once the loops are unrolled.
ir::Block both_sides(ir::KernelBuilder& builder, const Winograd::Matrix& matrix,
                     const std::function<ir::Expr(const ir::Expr& i, const ir::Expr& j)>& at,
                     const std::function<ir::Stmt(const ir::Expr& i, std::int64_t j, ir::Expr value)>& put);

}  // namespace lehr
