// Random workloads that are typical for a GPU: layers of published networks, in the types that they use on
// GPUs.
#pragma once

#include <string>
#include <vector>

#include "base/rng.h"
#include "workload/workload.h"

namespace lehr::testing {

struct GpuWorkload {
  std::string kind;  ///< a word for its use: "decode", "attention", "conv_1x1", ...
  Workload workload;
};

/// Draws valid workloads. Of each 25 workloads 4 are products of decoding steps, 3 are convolutions of 1 x 1,
/// and so on. They are shuffled, so that any few of them are a fair sample. The kernel of each takes from
/// some microseconds to some milliseconds on a large GPU, and its tensors have at most 1.5 GB. The same
/// generator state gives the same list on every machine.
std::vector<GpuWorkload> ordinary_gpu_workloads(Rng& rng, std::size_t count);

/// Returns the flags of `lehr tune gemm` or `conv2d` for the workload, without flags that have their default
/// values, in the form that bench/gpu/run uses: "m=16 n=4096 k=4096 a=bf16:row b=bf16:column c=bf16:row
/// accum=f32".
std::string flags_text(const Workload& workload);

}  // namespace lehr::testing
