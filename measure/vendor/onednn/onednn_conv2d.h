// oneDNN's convolution through its primitives.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "measure/vendor/onednn/onednn_algorithm.h"
#include "measure/vendor/onednn/onednn_primitives.h"
#include "workload/workload.h"

namespace lehr::onednn {

/// Returns the algorithms with which oneDNN can compute a convolution, each ready to be called, with the
/// kernel that it runs. It may have none. The filter is packed for each beforehand, outside of the calls, as
/// the library intends.
/// "plain direct": input and output as they are. "blocked direct": copied to and from the layout that the
/// library prefers, inside of the call. "... winograd" if it has that. `pointers`, of tensors_of(workload),
/// must outlive the result.
std::vector<Algorithm> conv2d_algorithms(const std::shared_ptr<Primitives>& primitives,
                                         const Workload& workload, std::span<void* const> pointers);

}  // namespace lehr::onednn
