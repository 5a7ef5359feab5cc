// oneDNN's matrix products through its primitives.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "measure/vendor/onednn/onednn_algorithm.h"
#include "measure/vendor/onednn/onednn_primitives.h"
#include "workload/workload.h"

namespace lehr::onednn {

/// Returns the algorithms of the library for the GEMM, each with its kernel: "matmul" and, for a single
/// matrix, "inner product". It may have none. For a constant B also "packed matmul" and "packed inner
/// product": B is packed for each beforehand, outside of the calls. `pointers`, of tensors_of(workload), must
/// outlive the result.
std::vector<Algorithm> gemm_algorithms(const std::shared_ptr<Primitives>& primitives,
                                       const Workload& workload, std::span<void* const> pointers);

}  // namespace lehr::onednn
