// The table of row expressions: their fields and flags.
#pragma once

#include "workload/operator.h"

namespace lehr {

OperatorTable rowwise_operator();

}  // namespace lehr
