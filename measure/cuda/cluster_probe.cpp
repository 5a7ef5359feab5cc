#include "measure/cuda/cluster_probe.h"

namespace lehr {
namespace {

/// A kernel that does nothing, as PTX for the driver's own compiler. PTX ISA 7.8 came with CUDA 11.8, as did
/// the query.
constexpr char kProbe[] = R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry lehr_probe() { ret; }
)";
constexpr int kThreads = 128;

}  // namespace

// Each block uses all of the shared memory that a block may have, so it has a multiprocessor to itself. So
// the answer depends only on which multiprocessors are in the same GPC, and can form a cluster.
std::array<int, 3> clusters_at_once(const CudaDriver& driver, int ordinal, const Limits& limits) {
  std::array<int, 3> result{};
  CudaContext context;
  CudaKernel probe;
  if (!context.open(driver, ordinal).ok() || !probe.load(driver, kProbe, "lehr_probe").ok() ||
      !probe.allow_dynamic_shared(limits.shared_bytes_per_block).ok())
    return result;
  int blocks = 2;
  for (int& count : result) {
    count = probe.clusters_at_once(blocks, kThreads, limits.shared_bytes_per_block).value_or(0);
    blocks *= 2;
  }
  return result;
}

}  // namespace lehr
