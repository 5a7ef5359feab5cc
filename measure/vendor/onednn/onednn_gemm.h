// oneDNN's matrix products through its primitives.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "measure/vendor/onednn/onednn_primitives.h"
#include "measure/vendor/onednn/onednn_way.h"
#include "workload/workload.h"

namespace lehr::onednn {

/// "matmul" and, of a single matrix, "inner product", with the kernel that the library runs: those that it
/// has for the GEMM; it may be none. Of a constant B "packed matmul" and "packed inner product": B is laid
/// out as each likes it beforehand, outside of the calls. `pointers`, of tensors_of(workload), outlive the
/// ways.
std::vector<Way> gemm_ways(const std::shared_ptr<Primitives>& primitives, const Workload& workload,
                           std::span<void* const> pointers);

}  // namespace lehr::onednn
