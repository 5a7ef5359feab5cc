// The multiprocessors of a GPU that clusters of blocks can use.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/limits.h"

namespace lehr {

/// Returns how many multiprocessors hold clusters of `blocks` (1, 2, 4, 8) at one time where each block has
/// one to itself; at least `blocks`. A cluster stays within one GPC. A GPC's multiprocessors are a multiple
/// of two, but of four or eight only by chance: it differs from one GPC to the next which of the chip's 144
/// are off. If the driver was not asked, ten elevenths of the multiprocessors are counted on: cuBLAS launches
/// 120 blocks in clusters of eight on the 132 of an H100 SXM (NVIDIA/cutlass, issue 1921), and as many were
/// seen in use (accel-sim/gpu-app-collection, pull request 87). One cluster too many would run alone, one too
/// few costs little.
inline std::int64_t cores_in_clusters(const Limits& limits, std::int64_t blocks) {
  const std::int64_t cores = limits.cores;
  if (blocks == 1) return cores;
  const int asked = limits.clusters_at_once[blocks == 2 ? 0 : blocks == 4 ? 1 : 2];
  const std::int64_t clusters = asked > 0 ? asked : (blocks == 2 ? cores : cores * 10 / 11) / blocks;
  return std::max<std::int64_t>(clusters, 1) * blocks;
}

}  // namespace lehr
