// The model of NVIDIA's GPUs: residency of blocks, caches, and the time of a kernel.
#include <algorithm>
#include <cmath>

#include "base/clusters.h"
#include "costmodel/machine.h"

namespace lehr {
namespace {

/// Registers that a CUDA thread needs in addition to its kRegister buffers (for addresses, loop counters,
/// values in flight). It is an allowance, not a measurement: generated SIMT GEMMs need 25 to 40 in addition
/// to their accumulators and fragments.
constexpr double kRegisterOverhead = 32;
/// A warp gets registers in units of 256 (CUDA occupancy calculator, compute capability 8.x and 9.0).
constexpr double kRegisterUnit = 256;

/// Bytes of a GPU's combined L1 and shared memory that always stay a cache (CUDA C++ Programming Guide,
/// compute capability 8.x and 9.0: 256 KB with at most 228 KB of shared memory on 9.0, 192 with 164 on 8.0).
constexpr double kSmallestCudaL1 = 28 * 1024;

/// Fraction of the rate of f16 that remains if ptxas emulates an mma.sync of 8-bit floats by conversions and
/// two products of f16. In the SASS (NVRTC 13.0), a fragment of four registers takes eight conversions, and a
/// warp tile of 64 x 64 needs two such fragments per mma. All 32 lanes start these conversions every other
/// cycle (CUDA C++ Programming Guide 13.0, "Arithmetic Instructions": 64 conversions a cycle), compared with
/// three cycles for the products.
constexpr double kConvertedShare = 0.75;
/// Number of warp instructions in flight that keep four schedulers busy whose dependent-issue latency is four
/// cycles (Jia et al., "Dissecting the NVIDIA Volta GPU architecture via microbenchmarking", 2018: 4 cycles).
constexpr double kWarpsInFlight = 16;
/// Bytes per cycle that the L2's slices deliver together (NVIDIA A100 Tensor Core GPU Architecture white
/// paper, 2020: two partitions of 40 slices of 64 bytes; H100's has as many), and that one multiprocessor
/// takes. They do not depend on the memory: H100 and H200 have the same.
constexpr double kL2BytesPerCycle = 5120;
constexpr double kL2BytesPerCycleAndCore = 64;
/// L1: 64 bytes per cycle and SM (Jia et al. 2018 and NVIDIA's A100 white paper: 64 to 128).
constexpr double kL1BytesPerCycle = 64;
/// Latency of a barrier between a global load and its use, if no other block covers it.
constexpr double kLoadLatencySeconds = 0.6e-6;
/// A 32-bit integer division is about twenty instructions of a warp.
constexpr double kCudaDivisionInstructions = 20;
constexpr double kLaunchSeconds = 2e-6;
/// Time from the start of an asynchronous copy until its data are in shared memory. In microbenchmarks, a
/// load that misses the L2 takes some 570 cycles on an H100, a third of a microsecond; the barrier after it
/// takes additional time.
constexpr double kCopyLatencySeconds = 0.5e-6;
/// Latency of a message between the multiprocessors of a cluster, by which the readers of a stage report that
/// it is free: 180 cycles (Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture",
/// 2024, arXiv 2402.13499).
constexpr double kClusterLatencyCycles = 180;
/// Cycles from the last product of one group to the first product of the next, if no product is left running.
/// In that time the last product drains, and the barrier of the next stage and its first rows are read, each
/// with the latency of shared memory, about 30 cycles (Luo et al. 2024: 29). An order of magnitude.
constexpr double kProductGapCycles = 100;

double product(const std::array<std::int64_t, 3>& extents) {
  return static_cast<double>(extents[0]) * static_cast<double>(extents[1]) * static_cast<double>(extents[2]);
}

Residency cuda_residency(const ir::Analysis& a, const ir::Kernel& kernel, const Limits& limits,
                         double register_bytes) {
  Residency r;
  const double warp = std::max(1, limits.warp_size);
  r.threads = std::max(1.0, product(a.launch.block));
  r.warps = std::ceil(r.threads / warp);
  r.blocks = std::max(1.0, product(a.launch.grid));
  r.registers = register_bytes / 4 + kRegisterOverhead;
  r.registers_most = limits.max_registers_per_thread;
  double granted =
      std::min(r.registers, std::max(32.0, static_cast<double>(limits.max_registers_per_thread)));
  r.core_share = limits.registers_per_core / (std::max(1, kernel.min_blocks_per_core) * r.warps * warp);
  if (r.core_share > 0) granted = std::min(granted, r.core_share);
  const double warp_registers = std::ceil(std::max(1.0, granted) * warp / kRegisterUnit) * kRegisterUnit;
  const double shared = static_cast<double>(std::max(a.shared_bytes, a.launch.shared_bytes));
  r.by_threads = std::floor(limits.max_threads_per_core / (r.warps * warp));
  r.by_shared = std::floor(static_cast<double>(limits.shared_bytes_per_core) /
                           (shared + static_cast<double>(limits.shared_bytes_reserved)));
  r.by_registers = std::floor(limits.registers_per_core / (warp_registers * r.warps));
  const double most = std::max(1, limits.max_blocks_per_core);
  r.blocks_per_core = std::clamp(std::min({r.by_threads, r.by_shared, r.by_registers}), 1.0, most);
  const double all_warps = limits.max_threads_per_core / warp;
  r.occupancy = all_warps > 0 ? std::min(1.0, r.blocks_per_core * r.warps / all_warps) : 1;
  const double in_clusters = static_cast<double>(cores_in_clusters(limits, a.launch.cluster));
  r.place_on(limits.cores, std::clamp<double>(in_clusters, 1, std::max(1, limits.cores)));
  return r;
}

std::array<double, 3> cuda_capacities(const ir::Analysis& a, const Residency& residency,
                                      const Limits& limits) {
  const double shared = static_cast<double>(std::max(a.shared_bytes, std::int64_t{0}));
  const double left = static_cast<double>(limits.shared_bytes_per_core) - shared * residency.blocks_per_core;
  const double l1 = kSmallestCudaL1 + std::max(0.0, left);
  return {l1, l1, known_or(limits.l2_bytes, kUnknownL2)};
}

double cuda_matrix_gflops(const ir::MatrixUnit& unit, const Limits& limits) {
  const double share = unit.warpgroup ? 1 : limits.mma_sync_share;
  switch (unit.operand) {
    case DType::kF16:
    case DType::kBF16:
      return share * limits.tensor_gflops_f16;
    case DType::kF32:
      return share * limits.tensor_gflops_tf32;
    case DType::kS8:
      return share * limits.tensor_gflops_s8;
    case DType::kE4M3:
    case DType::kE5M2:
      if (unit.warpgroup || limits.has(Ability::kMmaF8IsNative)) return share * limits.tensor_gflops_f8;
      return share * limits.tensor_gflops_f16 * kConvertedShare;
    default:
      return 0;
  }
}

double cuda_usual_gflops(const Limits& limits) {
  constexpr int kMostHave = 128;
  return std::max(1, limits.cores) * (limits.f32_lanes > 0 ? limits.f32_lanes : kMostHave) * 2 * 1.5;
}

/// A kernel on a device: the rates that it can use.
struct Placed {
  Placed(std::span<const float> row, const RooflineColumns& column, const Roofs& roofs)
      : clock(roofs.flops / (roofs.cores * roofs.f32_lanes * 2)),
        cores(roofs.cores),
        tail(std::clamp<double>(row[column.wave_efficiency], 1e-3, 1)),
        resident(std::max<double>(1, row[column.blocks_per_core])) {}

  double clock;  ///< per second
  double cores;
  double tail;
  double resident;  ///< number of blocks on a core at the same time
  double core_cycles() const { return cores * clock; }
  /// Returns the number of events that happen one after the other, if all blocks together have `times`
  /// events: the blocks of a core run side by side.
  double in_a_row(double times) const { return times / (cores * resident) / tail; }
};

/// Returns the seconds in which the multiprocessors and the L2 exchange bytes. Several blocks ask at about
/// the same time for the data that the accelerator copies, and the L2's coalescer reads it once for them,
/// whether one block brings it to its whole cluster or each asks for itself (NVIDIA Nsight Compute
/// documentation, "Metrics Decoder": lrc). So the slices do not bound a ring of stages, and a cluster saves
/// nothing here: each multiprocessor takes all of its own tiles. 128 x 256 tiles of bf16 4096 cubed without a
/// cluster, which ask for 9.3 TB/s, were as fast on an H200 as those of clusters of two
/// (bench/results/gpu/README.md).
double l2_s(std::span<const float> row, const RooflineColumns& column, const Placed& at) {
  const double asked = unlog(row[column.l1_traffic]), of_all = kL2BytesPerCycleAndCore * at.cores;
  if (row[column.stage_turns] > 0)
    return std::max(asked, unlog(row[column.staged_written])) / (of_all * at.clock);
  return asked / (std::min(kL2BytesPerCycle, of_all) * at.clock);
}

/// Returns the seconds that copies take if the bytes in flight limit them; 0 if they do not.
double copies_s(std::span<const float> row, const RooflineColumns& column, const Placed& at, double l2,
                double compute) {
  const double depth = row[column.pipeline_depth];
  if (depth <= 1) return 0;
  // A stage of a ring is filled, multiplied, and then free again. That takes the latency of a copy, and the
  // stage's fraction of the time of the L2 and of the products. All stages of the ring are in this cycle at
  // the same time.
  if (const double turns = unlog(row[column.stage_turns]); turns > 0) {
    const double reported = row[column.cluster_blocks] > 1 ? kClusterLatencyCycles / at.clock : 0;
    return (at.in_a_row(turns) * (kCopyLatencySeconds + reported) + l2 + compute) / depth;
  }
  // Little's law: a copy takes its latency, and the bytes in flight are limited by the shared memory besides
  // the stage that is being used.
  const double in_flight = unlog(row[column.shared_bytes]) * (depth - 1) / depth * at.resident * at.cores;
  const double async = std::clamp<double>(row[column.async_share], 0, 1);
  return in_flight > 0 ? async * unlog(row[column.l1_traffic]) * kCopyLatencySeconds / in_flight / at.tail
                       : 0;
}

/// Returns the seconds at the beginning and end of a block in which it multiplies nothing. At the beginning
/// its first stage is loaded; with a ring, that comes after the tensor map, which holds the address. At the
/// end its threads write C, except for what the accelerator writes after them. Other blocks of the core
/// continue meanwhile. A block with several tiles begins only once, and fetches stages of the next tile while
/// it writes.
double ends_s(std::span<const float> row, const RooflineColumns& column, const Placed& at) {
  const double fetches = row[column.stage_turns] > 0 ? 2 : row[column.pipeline_depth] > 1 ? 1 : 0;
  const double first = at.in_a_row(unlog(row[column.blocks])) * fetches * kCopyLatencySeconds;
  const double threads_write =
      std::max(0.0, unlog(row[column.global_written]) - unlog(row[column.accelerator_written])) *
      std::exp2(std::max(0.0F, row[column.store_sectors]));
  return (first + threads_write / (kL1BytesPerCycle * at.core_cycles()) / at.tail) / at.resident;
}

TimeTerms cuda_terms(std::span<const float> row, const RooflineColumns& column, const Roofs& roofs) {
  const Placed at(row, column, roofs);
  const double flops = unlog(row[column.flops]);
  const double warps = std::max(1.0, unlog(row[column.threads_per_block]) / 32) * at.resident;

  // Independent work of a thread: the number of elements of its register arrays. More than eight do not help.
  const double independent = std::clamp(unlog(row[column.register_bytes]) / 4, 1.0, 8.0);
  const double hidden = std::min(1.0, warps * independent / kWarpsInFlight);
  const double tensor = std::clamp<double>(row[column.intrinsic_flops_share], 0, 1);
  const double divisions = unlog(row[column.divisions_per_flop]) / 1024 * std::max(1.0, flops) *
                           kCudaDivisionInstructions * 2 / roofs.flops;
  // Tensor cores work in parallel with the lanes, which meanwhile count stages and compute addresses.
  const double lanes = flops * (1 - tensor) / roofs.flops / hidden + divisions;
  const double gain = std::exp2(static_cast<double>(row[column.tensor_gain]));
  const double products = flops * tensor / gain / roofs.flops / hidden;
  const double spill = spill_factor(row[column.register_pressure]) / at.tail;
  const double compute = std::max(lanes, products) * spill;

  const double shared = unlog(row[column.shared_cycles]) / at.core_cycles();
  const double l1 = unlog(row[column.sector_bytes]) / (kL1BytesPerCycle * at.core_cycles());
  const double l2 = l2_s(row, column, at);
  const double dram = unlog(row[column.llc_traffic]) / roofs.dram_bytes;

  // Each pair of barriers encloses one staged load, whose latency is hidden by copies in flight and by other
  // blocks of the multiprocessor.
  const double async = std::clamp<double>(row[column.async_share], 0, 1);
  const double covered = 1 + async * std::max<double>(1, row[column.pipeline_depth]);
  const double exposed = at.in_a_row(unlog(row[column.blocks])) * unlog(row[column.barriers]) / 2 *
                         kLoadLatencySeconds / covered;
  const double gaps =
      at.in_a_row(unlog(row[column.product_waits])) * kProductGapCycles / at.clock / at.resident;
  return {{{"compute", "arithmetic and tensor cores, latency as hidden as the warps allow", compute},
           {"shared", "shared memory, bank conflicts included", shared * spill},
           {"l1", "sectors of global accesses", l1 * spill},
           {"l2", "traffic between the multiprocessors and L2", l2},
           {"dram", "traffic beyond L2", dram},
           {"copies", "asynchronous copies, as many in flight as the stages hold",
            copies_s(row, column, at, l2, compute)},
           {"exposed", "latency of loads that barriers expose", exposed, false},
           {"gaps", "between products, where none is left running", gaps, false},
           {"ends", "a block's first copies, and what its threads write", ends_s(row, column, at), false},
           {"launch", "starting the kernel", kLaunchSeconds, false}}};
}

}  // namespace

const Machine kCudaMachine = {
    .line_bytes = 32,  // a sector of L1 and L2
    .residency = &cuda_residency,
    .capacities = &cuda_capacities,
    .matrix_gflops = &cuda_matrix_gflops,
    .usual_gflops = &cuda_usual_gflops,
    .usual_gbytes = 1000,
    .terms = &cuda_terms,
    .ranks_defaults = false,
    .first_picks = 16,
};

}  // namespace lehr
