// The machine of a target, as features and the analytic model see it: one row per target.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "base/limits.h"
#include "ir/analyze.h"
#include "ir/intrinsics.h"

namespace lehr {

/// How many blocks a core holds at the same time, and how much of the core stays idle. On a CPU a work item
/// counts as a block.
struct Residency {
  /// Per block.
  double threads = 1;
  /// Per block, rounded up.
  double warps = 1;
  /// Estimate of the registers that a kernel needs: 32-bit registers per thread; on a CPU, vector registers.
  double registers = 0;
  /// Registers that the device has.
  double registers_most = 0;
  /// Registers of a core per thread that the launch bounds promise to fit on it; 0: not known.
  double core_share = 0;
  /// Number of blocks per core that each resource alone would allow.
  double by_threads = 1;
  double by_shared = 1;
  double by_registers = 1;
  /// The minimum of these numbers, at least 1.
  double blocks_per_core = 1;
  /// Resident warps / maximum number of warps on a core, in [0, 1].
  double occupancy = 1;
  /// Number of blocks of the whole grid, or of work items.
  double blocks = 1;
  /// Blocks / (usable cores x blocks_per_core).
  double waves = 1;
  /// Waves / waves rounded up, on the usable cores: with 1, no core is idle at the end. It is lower for a
  /// single wave whose blocks have loops of different lengths (TextFacts::balance).
  double wave_efficiency = 1;

  /// Computes `waves` and `wave_efficiency` from the other members. `usable` is the number of cores on which
  /// blocks can run.
  void place_on(int cores, double usable);
};

/// One term of an estimated time.
struct TimeTerm {
  std::string_view name;     ///< "compute", "dram", ...
  std::string_view meaning;  ///< one phrase
  double us = 0;
  /// How the term is combined. Among overlapping terms, the longest counts in full and each of the others a
  /// tenth. Terms that do not overlap are added.
  bool overlaps = true;
};
using TimeTerms = std::array<TimeTerm, 10>;

/// Columns of a feature row by their purpose.
struct RooflineColumns {
  std::size_t flops, memory_instructions, arithmetic_instructions, arithmetic_lanes, intrinsic_flops_share,
      divisions_per_flop, l1_traffic, l2_traffic, llc_traffic, blocks_per_core, threads_per_block, blocks,
      wave_efficiency, shared_bytes, register_bytes, register_pressure, sector_bytes, shared_cycles, barriers,
      async_share, pipeline_depth, tensor_gain, stage_turns, product_waits, cluster_blocks, global_written,
      store_sectors, accelerator_written, staged_written;
  RooflineColumns();
};

/// The rates that an estimate is based on.
struct Roofs {
  double cores = 1;
  double vector_bytes = 16;
  double f32_lanes = 128;         ///< Limits::f32_lanes, or the usual number if the limits do not state it
  double flops = 0;               ///< per second, whole device
  double dram_bytes = 0;          ///< per second, whole device
  bool trusts_registers = false;  ///< RooflineModel::trust_registers()
};

struct Machine {
  double line_bytes = 0;  ///< bytes of one unit of transfer
  Residency (*residency)(const ir::Analysis&, const ir::Kernel&, const Limits&,
                         double register_bytes) = nullptr;
  /// Returns the sizes in bytes of the first cache, the second cache (the first one again if a core has only
  /// one) and the last cache. Assumes sizes that the limits do not state.
  std::array<double, 3> (*capacities)(const ir::Analysis&, const Residency&, const Limits&) = nullptr;
  /// Returns the number of products of this operand type that a 32-bit lane of a vector adds up in the time
  /// of one f32 product, with the instructions that kernels use on the device. 0: not known. nullptr: vectors
  /// multiply only f32.
  double (*products_per_lane)(DType operand, const Limits&) = nullptr;
  /// Returns the GFLOP/s of instructions that multiply matrices in this unit. 0: not known. nullptr: the
  /// target has no such instructions.
  double (*matrix_gflops)(const ir::MatrixUnit&, const Limits&) = nullptr;
  /// Return the GFLOP/s to assume for a device, and the GB/s of its memory, if the limits do not state them.
  double (*usual_gflops)(const Limits&) = nullptr;
  double usual_gbytes = 0;
  /// Returns the terms of the time of a feature row, in seconds. Terms without a name are unused. Called for
  /// every candidate, so it must not allocate memory.
  TimeTerms (*terms)(std::span<const float> row, const RooflineColumns&, const Roofs&) = nullptr;
  /// Whether the analytic model ranks the defaults of several families well. If so, the default that it ranks
  /// first is measured first; otherwise that of the most special family.
  bool ranks_defaults = false;
  /// Number of candidates at the beginning that the analytic model picks before a learnt model is used, if
  /// that is more than usual. On a GPU the analytic model knows the limits of a kernel (tensor cores, L2,
  /// HBM, waves), while eight measurements tell little about a space of millions of points.
  std::size_t first_picks = 0;
};
const Machine& machine_of(Target target);

/// Sizes assumed for caches whose size the limits do not state: small caches of current machines. Only the
/// ranking of configs depends on them.
inline constexpr double kUnknownL1 = 32 * 1024;
inline constexpr double kUnknownL2 = 512 * 1024;
/// Returns `bytes`, or `otherwise` if `bytes` is 0 (not known).
inline double known_or(std::int64_t bytes, double otherwise) {
  return bytes > 0 ? static_cast<double>(bytes) : otherwise;
}
/// Returns x for log_scale(x) (columns.h).
double unlog(float value);
/// Returns the factor by which throughput falls when accumulators spill. Each spilled value costs a store and
/// a load.
double spill_factor(double pressure);

/// Rows of the table.
extern const Machine kCpuMachine, kCudaMachine;

}  // namespace lehr
