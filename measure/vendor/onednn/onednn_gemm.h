// oneDNN's matrix products, computed with its primitives.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "measure/vendor/onednn/onednn_algorithm.h"
#include "measure/vendor/onednn/onednn_primitives.h"
#include "workload/workload.h"

namespace lehr::onednn {

/// Returns the library's algorithms for the GEMM, each named with its kernel: "matmul" and, for a single
/// matrix, "inner product". There may be no algorithm. For a constant B there are also "packed matmul" and
/// "packed inner product", for which B is packed beforehand, outside of the calls. `pointers` are the
/// addresses of tensors_of(workload) and must outlive the result.
std::vector<Algorithm> gemm_algorithms(const std::shared_ptr<Primitives>& primitives,
                                       const Workload& workload, std::span<void* const> pointers);

}  // namespace lehr::onednn
