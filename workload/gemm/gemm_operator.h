// The table of matrix products: their fields and flags.
#pragma once

#include "workload/operator.h"

namespace lehr {

OperatorTable gemm_operator();

}  // namespace lehr
