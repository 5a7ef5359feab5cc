// oneDNN's softmax, layer normalization and elementwise functions.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "measure/vendor/onednn/onednn_primitives.h"
#include "workload/workload.h"

namespace lehr::onednn {

/// Throws Error(kUser) with one sentence if the whole row expression is not one of these functions.
void require_rowwise(const Rowwise& rowwise);

/// Returns the primitive that computes the expression as an algorithm; empty if the library has no kernel for
/// it. `pointers` are the addresses of tensors_of(workload) and must outlive the result.
std::vector<Algorithm> rowwise_algorithms(const std::shared_ptr<Primitives>& primitives,
                                          const Rowwise& rowwise, std::span<void* const> pointers);

}  // namespace lehr::onednn
