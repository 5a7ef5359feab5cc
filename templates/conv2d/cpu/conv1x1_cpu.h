// A 1x1 convolution without stride and padding is a matrix product: gemm_cpu's schedules under another name.
#pragma once

#include "templates/template.h"

namespace lehr {

Template conv1x1_cpu_template();

}  // namespace lehr
