// What features and the analytic model make of a target's machine: one row per target.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "base/limits.h"
#include "ir/analyze.h"
#include "ir/intrinsics.h"

namespace lehr {

/// How many blocks a core holds at once and what that leaves idle; where there are no blocks, a part is one.
struct Residency {
  /// Per block.
  double threads = 1;
  /// Per block, rounded up.
  double warps = 1;
  /// Wanted: 32-bit ones per thread, estimated; where there are no threads, vector registers.
  double registers = 0;
  /// That there are of these.
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
  /// Of the whole grid, or parts.
  double blocks = 1;
  /// Blocks / (usable cores x blocks_per_core).
  double waves = 1;
  /// Waves / waves rounded up, of the usable cores: 1 means no idle tail. Of one wave whose blocks have
  /// unequal loops it is less (TextFacts::balance).
  double wave_efficiency = 1;

  /// Sets waves and their efficiency from the others. `usable`: of the cores, those that the blocks can be
  /// on.
  void place_on(int cores, double usable);
};

/// One part of an estimated time.
struct TimeTerm {
  std::string_view name;     ///< "compute", "dram", ...
  std::string_view meaning;  ///< one phrase
  double us = 0;
  bool overlaps = true;  ///< of these the longest counts in full and the others a tenth; the rest is added
};
using TimeTerms = std::array<TimeTerm, 10>;

/// Columns of a feature row by what they are for.
struct RooflineColumns {
  std::size_t flops, memory_instructions, arithmetic_instructions, arithmetic_lanes, intrinsic_flops_share,
      divisions_per_flop, l1_traffic, l2_traffic, llc_traffic, blocks_per_core, threads_per_block, blocks,
      wave_efficiency, shared_bytes, register_bytes, register_pressure, sector_bytes, shared_cycles, barriers,
      async_share, pipeline_depth, tensor_gain, stage_turns, product_waits, cluster_blocks, global_written,
      store_sectors, accelerator_written, staged_written;
  RooflineColumns();
};

/// What an estimate rests on.
struct Roofs {
  double cores = 1;
  double vector_bytes = 16;
  double f32_lanes = 128;         ///< Limits::f32_lanes; what most have where that is not known
  double flops = 0;               ///< per second, whole device
  double dram_bytes = 0;          ///< per second
  bool trusts_registers = false;  ///< RooflineModel::trust_registers()
};

struct Machine {
  double line_bytes = 0;  ///< of one unit of transfer
  Residency (*residency)(const ir::Analysis&, const ir::Kernel&, const Limits&,
                         double register_bytes) = nullptr;
  /// Bytes of the first cache, of the one behind it (the first again where a core has no other) and of the
  /// last, of which limits may not tell.
  std::array<double, 3> (*capacities)(const ir::Analysis&, const Residency&, const Limits&) = nullptr;
  /// How many products of such operands a lane of 32 bits of a vector adds up in the time of one of f32, with
  /// the instructions that kernels use on the device; 0: not known. nullptr: vectors have none but f32's.
  double (*products_per_lane)(DType operand, const Limits&) = nullptr;
  /// GFLOP/s of such instructions; 0: not known. nullptr: there are none.
  double (*matrix_gflops)(const ir::MatrixUnit&, const Limits&) = nullptr;
  /// GFLOP/s of a device, and GB/s of its memory, where limits do not tell.
  double (*usual_gflops)(const Limits&) = nullptr;
  double usual_gbytes = 0;
  /// The time of a feature row, in seconds; terms without a name are none. On the search's hot path: no
  /// allocation.
  TimeTerms (*terms)(std::span<const float> row, const RooflineColumns&, const Roofs&) = nullptr;
  /// Whether the analytic model tells the defaults of several families apart: then the best of them is
  /// measured first, else the most special family's.
  bool ranks_defaults = false;
  /// So many first candidates are the analytic model's before a learnt one is asked, if that is more than is
  /// usual: on a GPU it knows what bounds a kernel (tensor cores, L2, HBM, waves), and eight timings of a
  /// space of millions do not.
  std::size_t first_picks = 0;
};
const Machine& machine_of(Target target);

/// Bytes of a cache of which limits do not tell: small ones of machines in use; only a rank between configs
/// rests on it.
inline constexpr double kUnknownL1 = 32 * 1024;
inline constexpr double kUnknownL2 = 512 * 1024;
/// `bytes`, or `otherwise` where they are not known.
inline double known_or(std::int64_t bytes, double otherwise) {
  return bytes > 0 ? static_cast<double>(bytes) : otherwise;
}
/// What log_scale() (columns.h) was given.
double unlog(float value);
/// Work done per second falls with this factor when accumulators spill: each spilled value costs a store and
/// a load.
double spill_factor(double pressure);

/// The rows.
extern const Machine kCpuMachine, kCudaMachine;

}  // namespace lehr
