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

/// How many blocks a core holds at once, and how much of it stays idle. A CPU's work item counts as a block.
struct Residency {
  /// Per block.
  double threads = 1;
  /// Per block, rounded up.
  double warps = 1;
  /// Registers wanted, estimated: 32-bit ones per thread; on a CPU, vector registers.
  double registers = 0;
  /// Registers that exist.
  double registers_most = 0;
  /// A core's registers / the threads that launch bounds promise it; 0: not known.
  double core_share = 0;
  /// Blocks per core that each resource alone would allow.
  double by_threads = 1;
  double by_shared = 1;
  double by_registers = 1;
  /// The least of them, at least 1.
  double blocks_per_core = 1;
  /// Resident warps / the core's maximum, in [0, 1].
  double occupancy = 1;
  /// Blocks of the whole grid, or work items.
  double blocks = 1;
  /// Blocks / (usable cores x blocks_per_core).
  double waves = 1;
  /// Waves / waves rounded up, on the usable cores: 1 means no idle tail. It is lower for a single wave whose
  /// blocks have unequal loops (TextFacts::balance).
  double wave_efficiency = 1;

  /// Sets waves and their efficiency from the other members. `usable` is the number of cores that the blocks
  /// can run on.
  void place_on(int cores, double usable);
};

/// One term of an estimated time.
struct TimeTerm {
  std::string_view name;     ///< "compute", "dram", ...
  std::string_view meaning;  ///< one phrase
  double us = 0;
  /// Overlapping terms: the longest counts in full, each of the others a tenth. Terms that do not overlap are
  /// added.
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
  double f32_lanes = 128;         ///< Limits::f32_lanes; the usual number if that is not known
  double flops = 0;               ///< per second, whole device
  double dram_bytes = 0;          ///< per second
  bool trusts_registers = false;  ///< RooflineModel::trust_registers()
};

struct Machine {
  double line_bytes = 0;  ///< bytes of one unit of transfer
  Residency (*residency)(const ir::Analysis&, const ir::Kernel&, const Limits&,
                         double register_bytes) = nullptr;
  /// Returns the bytes of the first cache, of the second (the first again if a core has no other) and of the
  /// last. Assumes sizes that limits do not state.
  std::array<double, 3> (*capacities)(const ir::Analysis&, const Residency&, const Limits&) = nullptr;
  /// Returns how many products of this operand type one 32-bit lane of a vector adds up in the time of one
  /// f32 product, with the instructions that kernels use on the device; 0: not known. nullptr: vectors
  /// multiply only f32.
  double (*products_per_lane)(DType operand, const Limits&) = nullptr;
  /// Returns the GFLOP/s of such instructions; 0: not known. nullptr: the target has no such instructions.
  double (*matrix_gflops)(const ir::MatrixUnit&, const Limits&) = nullptr;
  /// Returns the GFLOP/s of a device. With `usual_gbytes` (GB/s of its memory) the default for what limits do
  /// not state.
  double (*usual_gflops)(const Limits&) = nullptr;
  double usual_gbytes = 0;
  /// Returns the terms of a feature row's time, in seconds. Terms without a name are unused. On the search's
  /// hot path: no allocation.
  TimeTerms (*terms)(std::span<const float> row, const RooflineColumns&, const Roofs&) = nullptr;
  /// Whether the analytic model ranks the defaults of several families well. If so, the best of them is
  /// measured first, else the most special family's.
  bool ranks_defaults = false;
  /// Number of first candidates that the analytic model picks before a learnt one is used, if that is more
  /// than usual. On a GPU the analytic model covers the bounds of a kernel (tensor cores, L2, HBM, waves),
  /// and eight timings of a space of millions do not.
  std::size_t first_picks = 0;
};
const Machine& machine_of(Target target);

/// Bytes assumed for a cache whose size limits do not state: small ones of machines in use. Only a rank
/// between configs depends on them.
inline constexpr double kUnknownL1 = 32 * 1024;
inline constexpr double kUnknownL2 = 512 * 1024;
/// Returns `bytes`, or `otherwise` if they are not known.
inline double known_or(std::int64_t bytes, double otherwise) {
  return bytes > 0 ? static_cast<double>(bytes) : otherwise;
}
/// Inverts log_scale() (columns.h).
double unlog(float value);
/// Returns the factor on work done per second when accumulators spill: each spilled value costs a store and a
/// load.
double spill_factor(double pressure);

/// Rows of the table.
extern const Machine kCpuMachine, kCudaMachine;

}  // namespace lehr
