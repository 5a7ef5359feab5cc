// The abilities of a device as plain numbers. They are all that spaces, features and templates know of a
// device.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/target.h"

namespace lehr {

/// An optional ability of an NVIDIA architecture, or of a processor in addition to its instruction set level.
/// Code that calls has() instead of comparing names is ready for the next architecture. target/cuda/archs.cpp
/// states which architecture has which ability, and target/cpu/archs.cpp the names of a processor's. The
/// numbers are stored in logs and must never change.
enum class Ability : int {
  kAsyncCopies = 1 << 0,  ///< cp.async: copies from global to shared memory that need no registers
  kBF16 = 1 << 1,         ///< conversions to bf16, and mma.sync for bf16
  kMmaF16K16 = 1 << 2,    ///< mma.sync for f16 with 16 elements of k; every architecture has the one with 8
  kMmaTf32 = 1 << 3,      ///< mma.sync for tf32
  kMmaS8K32 = 1 << 4,     ///< mma.sync for s8 with 32 elements of k
  kMmaF8 = 1 << 5,        ///< mma.sync for 8-bit floats, and conversions of them
  /// mma.sync for 8-bit floats is one instruction. Without this ability, ptxas emulates it with conversions
  /// and products of f16.
  kMmaF8IsNative = 1 << 6,
  /// Wgmma and setmaxnreg, and with them the tensor memory accelerator, mbarriers and clusters.
  kWgmma = 1 << 7,

  kInt8Dot = 1 << 8,  ///< vpdpbusd of up to 64 bytes: four products of u8 and s8 into each sum of s32
  kBf16Dot = 1 << 9,  ///< vdpbf16ps of up to 64 bytes: two products of bf16 into each sum of f32
};

/// Static limits and peak rates of a device. Fields that belong to the other target are 0.
struct Limits {
  Target target;
  std::string arch;  ///< "sm_90a", or the CPU's instruction set level: "avx512", "avx2", "sse2", "neon"

  int cores = 1;  ///< SMs, or the CPU threads that a kernel may use

  // CPU
  int vector_bytes = 0;       ///< width of one vector register
  int vector_registers = 0;   ///< architectural vector registers
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
  std::int64_t shared_bytes_reserved = 0;  ///< bytes that the driver takes of each block
  /// Number of f32 multiply-adds that a multiprocessor starts per cycle.
  int f32_lanes = 0;
  /// Rates of dense products on tensor cores in GFLOP/s for the whole device; a multiply-add counts as 2. In
  /// this order: f16 and bf16 with sums in f32, tf32, s8 with sums in s32, 8-bit floats with sums in f32. 0:
  /// the device has no such products.
  double tensor_gflops_f16 = 0;
  double tensor_gflops_tf32 = 0;
  double tensor_gflops_s8 = 0;
  double tensor_gflops_f8 = 0;
  /// Fraction of these rates that mma.sync reaches, on devices where newer instructions reach all of it.
  double mma_sync_share = 0;
  /// Numbers of clusters of 2, 4 and 8 blocks that run at the same time if each block has a core to itself,
  /// as the driver reports them (cuOccupancyMaxActiveClusters). 0: the driver was not asked.
  std::array<int, 3> clusters_at_once{};

  // Both
  int abilities = 0;          ///< values of Ability, or-ed
  std::int64_t l2_bytes = 0;  ///< CPU: of one core; GPU: of the chip
  std::int64_t l3_bytes = 0;  ///< CPU: shared last level; GPU: 0
  /// Fused multiply-adds count as 2; whole device (all `cores`), without tensor cores.
  double peak_gflops_f32 = 0;
  double dram_gbytes_per_s = 0;

  bool has(Ability ability) const { return (abilities & static_cast<int>(ability)) != 0; }
};

}  // namespace lehr
