// What a device can do, as plain numbers: the only thing that spaces, features and templates know of a device.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/target.h"

namespace lehr {

/// Static limits and peak rates. Fields of the other target are 0.
struct Limits {
  Target target;
  std::string arch;  ///< "sm_90a", or the CPU's instruction set level: "avx512", "avx2", "sse2", "neon"

  int cores = 1;  ///< SMs, or the CPU threads that a kernel may use

  // CPU
  int vector_bytes = 0;      ///< width of one vector register
  int vector_registers = 0;  ///< architectural vector registers
  std::int64_t l1_bytes = 0;  ///< data cache of one core

  // CUDA
  int warp_size = 0;
  int max_threads_per_block = 0;
  int max_threads_per_core = 0;
  int max_blocks_per_core = 0;
  int registers_per_core = 0;  ///< 32-bit registers of one SM
  int max_registers_per_thread = 0;
  std::int64_t shared_bytes_per_block = 0;  ///< opt-in maximum
  std::int64_t shared_bytes_per_core = 0;
  /// Clusters of 2, 4 and 8 blocks that run at the same time where each block has a core to itself, as the
  /// driver counts them (cuOccupancyMaxActiveClusters); 0: nobody has asked it.
  std::array<int, 3> clusters_at_once{};

  // Both
  std::int64_t l2_bytes = 0;  ///< CPU: of one core; GPU: of the chip
  std::int64_t l3_bytes = 0;  ///< CPU: shared last level; GPU: 0
  double peak_gflops_f32 = 0; ///< fused multiply-adds count 2, whole device (all `cores`), no tensor cores
  double dram_gbytes_per_s = 0;
};

}  // namespace lehr
