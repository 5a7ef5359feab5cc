// Time estimates from feature rows; the formula is in roofline_model.h.
#include "costmodel/roofline_model.h"

#include <algorithm>
#include <cmath>

namespace lehr {
namespace {

double unlog(float value) {
  return std::exp2(static_cast<double>(value)) - 1;
}

// CPU.
// A core of the last ten years starts two vector FMAs and two vector loads per cycle (Intel Haswell and AMD
// Zen 2 onwards: Fog, "The microarchitecture of Intel, AMD and VIA CPUs"); a scalar load or a broadcast costs
// as much as a vector load.
constexpr double kFmasPerCycle = 2;
constexpr double kLoadsPerCycle = 2;
/// FMAs in flight that fill two pipes of four cycles' latency (Fog, instruction tables: 4 cycles on all of
/// these).
constexpr double kFmasInFlight = 8;
/// Bytes per cycle and core into L1 and into L2: 32 and 10 are what streams reach on server cores with
/// private L2 and a sliced L3 (order of magnitude).
constexpr double kL2BytesPerCycle = 32;
constexpr double kL3BytesPerCycle = 10;
/// A 64-bit division takes about ten cycles of one unit on current cores (Fog, instruction tables: 7 to 18).
constexpr double kCpuDivisionCycles = 10;
/// Start and end of a parallel region.
constexpr double kCpuTaskSeconds = 0.2e-6;

// CUDA.
/// fp32 FMA lanes of an SM x 2 (CUDA C++ Programming Guide, arithmetic throughput, compute capability 8.6
/// to 9.0).
constexpr double kCudaFlopsPerCycle = 256;
/// Dense f16 tensor-core rate over the fp32 rate (A100: 312/19.5, H100: 989/67 TFLOP/s: datasheets).
constexpr double kTensorCoreGain = 15;
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

/// Work done per second falls with this factor when accumulators spill: each spilled value costs a store and
/// a load.
double spill_factor(double pressure) {
  return pressure > 1 ? 1 + 2 * (pressure - 1) : 1;
}

}  // namespace

RooflineModel::ColumnIndex::ColumnIndex()
    : flops(feature_index("flops")),
      memory_instructions(feature_index("memory_instructions")),
      arithmetic_instructions(feature_index("arithmetic_instructions")),
      arithmetic_lanes(feature_index("arithmetic_lanes")),
      intrinsic_flops_share(feature_index("intrinsic_flops_share")),
      divisions_per_flop(feature_index("divisions_per_flop")),
      l1_traffic(feature_index("l1_traffic")),
      l2_traffic(feature_index("l2_traffic")),
      llc_traffic(feature_index("llc_traffic")),
      blocks_per_core(feature_index("blocks_per_core")),
      threads_per_block(feature_index("threads_per_block")),
      blocks(feature_index("blocks")),
      wave_efficiency(feature_index("wave_efficiency")),
      shared_bytes(feature_index("shared_bytes")),
      register_bytes(feature_index("register_bytes")),
      register_pressure(feature_index("register_pressure")),
      sector_bytes(feature_index("sector_bytes")),
      shared_cycles(feature_index("shared_cycles")),
      barriers(feature_index("barriers")),
      async_share(feature_index("async_share")),
      pipeline_depth(feature_index("pipeline_depth")) {}

RooflineModel::RooflineModel(const Limits& limits)
    : cuda_(limits.target == Target::kCuda),
      cores_(std::max(1, limits.cores)),
      vector_bytes_(std::max(16, limits.vector_bytes)) {
  const double guessed_gflops = cuda_ ? cores_ * kCudaFlopsPerCycle * 1.5 : cores_ * vector_bytes_ * 3;
  peak_flops_ = 1e9 * (limits.peak_gflops_f32 > 0 ? limits.peak_gflops_f32 : guessed_gflops);
  dram_bytes_ = 1e9 * (limits.dram_gbytes_per_s > 0 ? limits.dram_gbytes_per_s : (cuda_ ? 1000.0 : 20.0));
}

void RooflineModel::fit(const Dataset&) {}

std::vector<double> RooflineModel::predict(const FeatureMatrix& rows) const {
  std::vector<double> scores(rows.rows());
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = -std::log(time_us(rows.row(i)));
  return scores;
}

std::vector<TimeTerm> RooflineModel::terms(std::span<const float> row) const {
  std::vector<TimeTerm> result;
  for (TimeTerm term : cuda_ ? cuda_terms(row) : cpu_terms(row)) {
    if (term.name.empty()) continue;
    term.us *= 1e6;
    result.push_back(term);
  }
  return result;
}

double RooflineModel::time_us(std::span<const float> row) const {
  // Overlap is never perfect, and without a share of the shorter activities all candidates that one roof
  // limits would tie.
  double longest = 0, overlapping = 0, added = 0;
  for (const TimeTerm& term : cuda_ ? cuda_terms(row) : cpu_terms(row)) {
    (term.overlaps ? overlapping : added) += term.us;
    if (term.overlaps) longest = std::max(longest, term.us);
  }
  return std::max(1e-6, 1e6 * (longest + 0.1 * (overlapping - longest) + added));
}

RooflineModel::Terms RooflineModel::cpu_terms(std::span<const float> row) const {
  const double flops = unlog(row[column_.flops]);
  // peak = cores x clock x 2 FMAs x 2 flops x lanes of 4 bytes.
  const double clock = peak_flops_ / (cores_ * kFmasPerCycle * 2 * vector_bytes_ / 4);
  const double core_cycles = cores_ * clock;
  const double tail = std::clamp<double>(row[column_.wave_efficiency], 1e-3, 1);

  // Independent sums: one per vector register that the register arrays fill.
  const double sums = std::max(1.0, unlog(row[column_.register_bytes]) / vector_bytes_);
  const double in_flight = std::min(1.0, sums / kFmasInFlight);
  const double spill = trusts_registers_ ? 1 : spill_factor(row[column_.register_pressure]);
  // Vectors wider than a register take several instructions.
  const double lane_bytes = 4.0 * row[column_.arithmetic_lanes];
  const double per_node = std::max(1.0, lane_bytes / vector_bytes_);
  const double fmas = unlog(row[column_.arithmetic_instructions]) * per_node;
  const double compute = std::max(fmas / kFmasPerCycle / in_flight / core_cycles, flops / peak_flops_);
  const double issue = unlog(row[column_.memory_instructions]) * per_node / kLoadsPerCycle / core_cycles;
  const double divisions = unlog(row[column_.divisions_per_flop]) / 1024 * std::max(1.0, flops);

  const double l1 = unlog(row[column_.l1_traffic]) / (kL2BytesPerCycle * core_cycles);
  const double l2 = unlog(row[column_.l2_traffic]) / (kL3BytesPerCycle * core_cycles);
  const double dram = unlog(row[column_.llc_traffic]) / dram_bytes_;
  return {
      {{"compute", "multiply-adds at the rate that their number in flight allows", compute * spill / tail},
       {"issue", "loads, stores and broadcasts", issue * spill / tail},
       {"l2", "traffic between L1 and L2", l1 / tail},
       {"l3", "traffic between L2 and L3", l2 / tail},
       {"dram", "traffic beyond the last cache", dram},
       {"divisions", "integer divisions", divisions * kCpuDivisionCycles / core_cycles, false},
       {"tasks", "starting the threads", unlog(row[column_.blocks]) / cores_ * kCpuTaskSeconds, false}}};
}

RooflineModel::Terms RooflineModel::cuda_terms(std::span<const float> row) const {
  const double flops = unlog(row[column_.flops]);
  const double clock = peak_flops_ / (cores_ * kCudaFlopsPerCycle);
  const double core_cycles = cores_ * clock;
  const double tail = std::clamp<double>(row[column_.wave_efficiency], 1e-3, 1);
  const double resident = std::max<double>(1, row[column_.blocks_per_core]);
  const double warps = std::max(1.0, unlog(row[column_.threads_per_block]) / 32) * resident;

  // Independent work of a thread: its register arrays' elements; more than eight add nothing.
  const double independent = std::clamp(unlog(row[column_.register_bytes]) / 4, 1.0, 8.0);
  const double hidden = std::min(1.0, warps * independent / kWarpsInFlight);
  const double tensor = std::clamp<double>(row[column_.intrinsic_flops_share], 0, 1);
  const double compute = flops * (1 - tensor + tensor / kTensorCoreGain) / peak_flops_ / hidden;
  const double divisions = unlog(row[column_.divisions_per_flop]) / 1024 * std::max(1.0, flops) *
                           kCudaDivisionInstructions * 2 / peak_flops_;

  const double shared = unlog(row[column_.shared_cycles]) / core_cycles;
  const double l1 = unlog(row[column_.sector_bytes]) / (kL1BytesPerCycle * core_cycles);
  const double l2 = unlog(row[column_.l1_traffic]) / (kL2OverDram * dram_bytes_);
  const double dram = unlog(row[column_.llc_traffic]) / dram_bytes_;
  const double spill = spill_factor(row[column_.register_pressure]) / tail;

  // Little's law: a copy takes its latency, and no more bytes are on their way than shared memory has room
  // for beside the stage that is being used.
  const double depth = row[column_.pipeline_depth];
  const double async = std::clamp<double>(row[column_.async_share], 0, 1);
  const double in_flight =
      unlog(row[column_.shared_bytes]) * std::max(depth - 1, 0.5) / std::max(depth, 1.0) * resident * cores_;
  const double copies = depth > 1 && in_flight > 0
                            ? async * unlog(row[column_.l1_traffic]) * kCopyLatencySeconds / in_flight / tail
                            : 0;

  // Each pair of barriers brackets one staged load. Copies in flight and other blocks of the SM cover its
  // latency.
  const double covered = resident * (1 + async * std::max(1.0, depth));
  const double waves = unlog(row[column_.blocks]) / (cores_ * resident) / tail;
  const double exposed = waves * resident * unlog(row[column_.barriers]) / 2 * kLoadLatencySeconds / covered;
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

}  // namespace lehr
