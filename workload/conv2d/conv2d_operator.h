// The table of convolutions over images: their fields and flags.
#pragma once

#include "workload/operator.h"

namespace lehr {

OperatorTable conv2d_operator();

}  // namespace lehr
