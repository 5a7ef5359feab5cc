// Applies the matrices of workload/conv2d/winograd.h to expressions.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "ir/expr.h"
#include "workload/conv2d/winograd.h"

namespace lehr {

/// Returns the sum over j of row[j] value(j), without the terms whose row[j] is zero. Values are vectors of
/// `lanes` f32.
ir::Expr combine(std::span<const double> row, const std::function<ir::Expr(std::size_t)>& value, int lanes);

}  // namespace lehr
