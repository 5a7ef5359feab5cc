// The multiprocessors of a GPU that clusters of blocks can use.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/limits.h"

namespace lehr {

/// Returns the number of multiprocessors that hold clusters of `blocks` blocks (1, 2, 4 or 8) at the same
/// time, if each block has a multiprocessor to itself; at least `blocks`. A cluster stays within one GPC. The
/// number of multiprocessors in a GPC is a multiple of two, but not always of four or eight: which of the
/// chip's 144 are disabled differs from GPC to GPC. If the driver was not asked, ten elevenths of the
/// multiprocessors are assumed: cuBLAS launches 120 blocks in clusters of eight on the 132 of an H100 SXM
/// (NVIDIA/cutlass, issue 1921), and 120 were seen in use (accel-sim/gpu-app-collection, pull request 87).
/// One cluster too many would run alone, while one too few costs little.
inline std::int64_t cores_in_clusters(const Limits& limits, std::int64_t blocks) {
  const std::int64_t cores = limits.cores;
  if (blocks == 1) return cores;
  const int asked = limits.clusters_at_once[blocks == 2 ? 0 : blocks == 4 ? 1 : 2];
  const std::int64_t clusters = asked > 0 ? asked : (blocks == 2 ? cores : cores * 10 / 11) / blocks;
  return std::max<std::int64_t>(clusters, 1) * blocks;
}

}  // namespace lehr
