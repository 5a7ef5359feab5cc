// oneDNN's convolution, computed with its primitives.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "measure/vendor/onednn/onednn_algorithm.h"
#include "measure/vendor/onednn/onednn_primitives.h"
#include "workload/workload.h"

namespace lehr::onednn {

/// Returns the algorithms with which oneDNN can compute a convolution, each ready to be called. Their names
/// include the kernel. There may be no algorithm. Each algorithm has its filter packed beforehand, outside of
/// the calls, as the library intends.
/// "plain direct" uses input and output as they lie in memory. "blocked direct" copies them to and from the
/// layout that the library prefers, inside of the call. Two algorithms with "winograd" are added if the
/// library has them. `pointers` are the addresses of tensors_of(workload) and must outlive the result.
std::vector<Algorithm> conv2d_algorithms(const std::shared_ptr<Primitives>& primitives,
                                         const Workload& workload, std::span<void* const> pointers);

}  // namespace lehr::onednn
