// GEMM with very few rows on the CPU, B row-major. B is streamed once, a few rows at a time, along its
// contiguous direction, while the rows of C stay in the first-level cache. Bound by memory: the knobs shape
// the stream.
#pragma once

#include "templates/template.h"

namespace lehr {

Template gemv_cpu_template();

}  // namespace lehr
