// oneDNN's matrix products with a B that stays the same, through its C API, version 2.
#pragma once

#include <vector>

#include "measure/vendor/onednn/onednn_way.h"
#include "workload/gemm/gemm.h"

namespace lehr::onednn {

/// "packed matmul" and, of a single matrix, "packed inner product": B is laid out as each likes it
/// beforehand, outside of the calls. Those that the library has for the f32 GEMM; it may be none. `library`
/// is dlopen's. `a`, `b` and `c` outlive the ways. Throws Error(kEnvironment) when the library has no such
/// API (versions before and after 2).
std::vector<Way> packed_gemm_ways(void* library, const Gemm& gemm, float* a, float* b, float* c);

}  // namespace lehr::onednn
