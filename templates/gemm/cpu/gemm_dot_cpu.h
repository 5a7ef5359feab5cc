// GEMM on the CPU as dot products, for A row-major and B column-major. Both operands are contiguous along k,
// so vectors run along k, and nothing is packed or transposed.
#pragma once

#include "templates/template.h"

namespace lehr {

Template gemm_dot_cpu_template();

}  // namespace lehr
