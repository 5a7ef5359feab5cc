// NVIDIA's GPUs: residency of blocks, caches, and the time of a kernel.
#include <algorithm>
#include <cmath>

#include "costmodel/machine.h"

namespace lehr {
namespace {

/// Registers that a CUDA thread needs beside its kRegister buffers (addresses, loop counters, values in
/// flight). An allowance, not a measurement: generated SIMT GEMMs need 25-40 beside their accumulators and
/// fragments.
constexpr double kRegisterOverhead = 32;
/// Registers are handed out to a warp in units of 256 (CUDA occupancy calculator, compute capability 8.x
/// and 9.0).
constexpr double kRegisterUnit = 256;

/// Of a GPU's combined L1 and shared memory at least this much stays a cache (CUDA C++ Programming Guide,
/// compute capability 8.x and 9.0: 256 KB with at most 228 KB of shared memory on 9.0, 192 with 164 on 8.0).
constexpr double kSmallestCudaL1 = 28 * 1024;

/// fp32 FMA lanes of an SM x 2 (CUDA C++ Programming Guide, arithmetic throughput, compute capability 8.6
/// to 9.0).
constexpr double kCudaFlopsPerCycle = 256;
/// What is left of the rate of f16 where ptxas makes an mma.sync of 8-bit floats of conversions and two
/// products of f16. In the SASS (NVRTC 13.0) a fragment of four registers takes eight conversions, and a warp
/// tile of 64 x 64 two of them per mma, which all 32 lanes start every other cycle (CUDA C++ Programming
/// Guide 13.0, "Arithmetic Instructions": 64 conversions a cycle), against three cycles of the products.
constexpr double kConvertedShare = 0.75;
/// Warp instructions in flight that fill four schedulers of four cycles' dependent-issue latency (Jia et al.,
/// "Dissecting the NVIDIA Volta GPU architecture via microbenchmarking", 2018: 4 cycles).
constexpr double kWarpsInFlight = 16;
/// L2 bandwidth over DRAM bandwidth, about, on A100 and H100.
constexpr double kL2OverDram = 2.5;
/// L1: 64 bytes per cycle and SM (Jia et al. 2018 and NVIDIA's A100 white paper: 64 to 128).
constexpr double kL1BytesPerCycle = 64;
/// Latency that a barrier between a global load and its use exposes when no other block covers it.
constexpr double kLoadLatencySeconds = 0.6e-6;
/// A 32-bit integer division is about twenty instructions of a warp.
constexpr double kCudaDivisionInstructions = 20;
constexpr double kLaunchSeconds = 2e-6;
/// From the start of an asynchronous copy to its data in shared memory: a load that misses the L2 takes some
/// 570 cycles on an H100, as microbenchmarks of it say, a third of a microsecond, and there is the barrier
/// behind it.
constexpr double kCopyLatencySeconds = 0.5e-6;

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
  r.place_on(limits.cores);
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
  return std::max(1, limits.cores) * kCudaFlopsPerCycle * 1.5;
}

TimeTerms cuda_terms(std::span<const float> row, const RooflineColumns& column, const Roofs& roofs) {
  const double flops = unlog(row[column.flops]);
  const double clock = roofs.flops / (roofs.cores * kCudaFlopsPerCycle);
  const double core_cycles = roofs.cores * clock;
  const double tail = std::clamp<double>(row[column.wave_efficiency], 1e-3, 1);
  const double resident = std::max<double>(1, row[column.blocks_per_core]);
  const double warps = std::max(1.0, unlog(row[column.threads_per_block]) / 32) * resident;

  // Independent work of a thread: its register arrays' elements; more than eight add nothing.
  const double independent = std::clamp(unlog(row[column.register_bytes]) / 4, 1.0, 8.0);
  const double hidden = std::min(1.0, warps * independent / kWarpsInFlight);
  const double tensor = std::clamp<double>(row[column.intrinsic_flops_share], 0, 1);
  const double gain = std::exp2(static_cast<double>(row[column.tensor_gain]));
  const double compute = flops * (1 - tensor + tensor / gain) / roofs.flops / hidden;
  const double divisions = unlog(row[column.divisions_per_flop]) / 1024 * std::max(1.0, flops) *
                           kCudaDivisionInstructions * 2 / roofs.flops;

  const double shared = unlog(row[column.shared_cycles]) / core_cycles;
  const double l1 = unlog(row[column.sector_bytes]) / (kL1BytesPerCycle * core_cycles);
  const double l2 = unlog(row[column.l1_traffic]) / (kL2OverDram * roofs.dram_bytes);
  const double dram = unlog(row[column.llc_traffic]) / roofs.dram_bytes;
  const double spill = spill_factor(row[column.register_pressure]) / tail;

  // Little's law: a copy takes its latency, and no more bytes are on their way than shared memory has room
  // for beside the stage that is being used.
  const double depth = row[column.pipeline_depth];
  const double async = std::clamp<double>(row[column.async_share], 0, 1);
  const double in_flight = unlog(row[column.shared_bytes]) * std::max(depth - 1, 0.5) / std::max(depth, 1.0) *
                           resident * roofs.cores;
  const double copies = depth > 1 && in_flight > 0
                            ? async * unlog(row[column.l1_traffic]) * kCopyLatencySeconds / in_flight / tail
                            : 0;

  // Each pair of barriers brackets one staged load. Copies in flight and other blocks of the SM cover its
  // latency.
  const double covered = resident * (1 + async * std::max(1.0, depth));
  const double waves = unlog(row[column.blocks]) / (roofs.cores * resident) / tail;
  const double exposed = waves * resident * unlog(row[column.barriers]) / 2 * kLoadLatencySeconds / covered;
  return {{{"compute", "arithmetic and tensor cores, latency as hidden as the warps allow",
            (compute + divisions) * spill},
           {"shared", "shared memory, bank conflicts included", shared * spill},
           {"l1", "sectors of global accesses", l1 * spill},
           {"l2", "traffic between the multiprocessors and L2", l2},
           {"dram", "traffic beyond L2", dram},
           {"copies", "asynchronous copies, as many in flight as the stages hold", copies},
           {"exposed", "latency of loads that barriers expose", exposed, false},
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
