// oneDNN's matrix products through its primitives.
#pragma once

#include <memory>
#include <vector>

#include "measure/vendor/onednn/onednn_primitives.h"
#include "measure/vendor/onednn/onednn_way.h"
#include "workload/gemm/gemm.h"

namespace lehr::onednn {

/// "matmul" and, of a single matrix, "inner product", with the kernel that the library runs: those that it
/// has for the GEMM; it may be none. Of a constant B "packed matmul" and "packed inner product": B is laid
/// out as each likes it beforehand, outside of the calls. `a`, `b` and `c` outlive the ways.
std::vector<Way> gemm_ways(const std::shared_ptr<Primitives>& primitives, const Gemm& gemm, void* a, void* b,
                           void* c);

}  // namespace lehr::onednn
