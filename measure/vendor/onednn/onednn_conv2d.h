// oneDNN's convolution through its primitives.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "measure/vendor/onednn/onednn_primitives.h"
#include "measure/vendor/onednn/onednn_way.h"
#include "workload/workload.h"

namespace lehr::onednn {

/// The ways in which oneDNN can compute one convolution, each ready to be called, with the kernel that it
/// runs; it may be none. The filter is laid out as each way likes it beforehand, outside of the calls, as the
/// library means it to be used.
/// "plain direct": input and output as they are; "blocked direct": copied to and from the layout that the
/// library prefers, inside of the call; "... winograd" where it has that.
/// `pointers`, of tensors_of(workload), outlive the ways.
std::vector<Way> conv2d_ways(const std::shared_ptr<Primitives>& primitives, const Workload& workload,
                             std::span<void* const> pointers);

}  // namespace lehr::onednn
