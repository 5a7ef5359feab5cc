// oneDNN's softmax, layer normalization and functions of elements.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "measure/vendor/onednn/onednn_primitives.h"
#include "workload/workload.h"

namespace lehr::onednn {

/// Throws Error(kUser) with one sentence for a row expression that is not one of these as a whole.
void require_rowwise(const Rowwise& rowwise);

/// Returns the primitive that computes the expression; empty if the library has no kernel for it. `pointers`,
/// of tensors_of(workload), must outlive the result.
std::vector<Algorithm> rowwise_algorithms(const std::shared_ptr<Primitives>& primitives,
                                          const Rowwise& rowwise, std::span<void* const> pointers);

}  // namespace lehr::onednn
