// GEMM on the CPU with very few rows and a row-major B. B is read once, a few rows at a time, along its
// contiguous dimension, while the rows of C stay in the first-level cache. Memory is the limit, and the knobs
// decide how B is read.
#pragma once

#include "templates/template.h"

namespace lehr {

Template gemv_cpu_template();

}  // namespace lehr
