// The model of a CPU: work items on cores with private caches, and the time of a kernel.
#include <algorithm>

#include "costmodel/columns.h"
#include "costmodel/machine.h"

namespace lehr {
namespace {

// A core of the last ten years starts two vector FMAs and two vector loads per cycle (Intel Haswell and AMD
// Zen 2 onwards: Fog, "The microarchitecture of Intel, AMD and VIA CPUs"). A scalar load or a broadcast
// counts as a vector load.
constexpr double kFmasPerCycle = 2;
constexpr double kLoadsPerCycle = 2;
/// Number of FMAs in flight that keep two pipes with a latency of four cycles busy (Fog, instruction tables:
/// 4 cycles on all of these).
constexpr double kFmasInFlight = 8;
/// Bytes per cycle and core into L1 and into L2. Streams reach 32 and 10 on server cores with private L2 and
/// a sliced L3 (order of magnitude).
constexpr double kL2BytesPerCycle = 32;
constexpr double kL3BytesPerCycle = 10;
/// A 64-bit division takes about ten cycles of one unit on current cores (Fog, instruction tables: 7 to 18).
constexpr double kCpuDivisionCycles = 10;
/// Seconds that starting and ending a parallel region takes.
constexpr double kCpuPartSeconds = 0.2e-6;

Residency cpu_residency(const ir::Analysis& a, const ir::Kernel&, const Limits& limits,
                        double register_bytes) {
  Residency r;
  r.registers = share_of(register_bytes, limits.vector_bytes);
  r.registers_most = limits.vector_registers;
  r.blocks = std::max<double>(1, static_cast<double>(a.launch.work_items));
  r.place_on(limits.cores, std::max(1, limits.cores));
  return r;
}

std::array<double, 3> cpu_capacities(const ir::Analysis&, const Residency&, const Limits& limits) {
  const double l2 = known_or(limits.l2_bytes, kUnknownL2);
  return {known_or(limits.l1_bytes, kUnknownL1), l2,
          known_or(limits.l3_bytes, l2 * std::max(1, limits.cores))};
}

// VDPBF16PS adds two products of bf16 to each sum, and VPDPBUSD four products of bytes. VPMADDWD multiplies
// words of 16 bits and adds two products (Intel 64 and IA-32 Architectures Software Developer's Manual,
// volume 2). Cores start at most as many of these as FMAs: on a Zen 4, the first two were measured at 1.95
// and 3.99 times the products of FMA. The figure for VPMADDWD is an upper bound: the sum needs another
// instruction (which units without a multiplier can execute), and so does widening the bytes. The same holds
// for VPMADDUBSW with s7, which a VPMADDWD follows. Without VDPBF16PS, products of bf16 are f32 products.
double cpu_products_per_lane(DType operand, const Limits& limits) {
  switch (operand) {
    case DType::kF32:
      return 1;
    case DType::kBF16:
      return limits.has(Ability::kBf16Dot) ? 2 : 1;
    case DType::kS7:
    case DType::kS8:
    case DType::kU8:
      return limits.has(Ability::kInt8Dot) ? 4 : 2;
    default:
      return 0;
  }
}

double cpu_usual_gflops(const Limits& limits) {
  return std::max(1, limits.cores) * std::max(16, limits.vector_bytes) * 3;
}

TimeTerms cpu_terms(std::span<const float> row, const RooflineColumns& column, const Roofs& roofs) {
  const double flops = unlog(row[column.flops]);
  // peak = cores x clock x 2 FMAs x 2 flops x lanes of 4 bytes.
  const double clock = roofs.flops / (roofs.cores * kFmasPerCycle * 2 * roofs.vector_bytes / 4);
  const double core_cycles = roofs.cores * clock;
  const double tail = std::clamp<double>(row[column.wave_efficiency], 1e-3, 1);

  // Number of independent sums: one per vector register that the register arrays fill.
  const double sums = std::max(1.0, unlog(row[column.register_bytes]) / roofs.vector_bytes);
  const double in_flight = std::min(1.0, sums / kFmasInFlight);
  const double spill = roofs.trusts_registers ? 1 : spill_factor(row[column.register_pressure]);
  // A vector wider than a register takes several instructions.
  const double lane_bytes = 4.0 * row[column.arithmetic_lanes];
  const double per_node = std::max(1.0, lane_bytes / roofs.vector_bytes);
  const double fmas = unlog(row[column.arithmetic_instructions]) * per_node;
  const double gain = std::exp2(static_cast<double>(row[column.tensor_gain]));
  const double compute =
      std::max(fmas / kFmasPerCycle / in_flight / core_cycles, flops / (gain * roofs.flops));
  const double issue = unlog(row[column.memory_instructions]) * per_node / kLoadsPerCycle / core_cycles;
  const double divisions = unlog(row[column.divisions_per_flop]) / 1024 * std::max(1.0, flops);

  const double l1 = unlog(row[column.l1_traffic]) / (kL2BytesPerCycle * core_cycles);
  const double l2 = unlog(row[column.l2_traffic]) / (kL3BytesPerCycle * core_cycles);
  const double dram = unlog(row[column.llc_traffic]) / roofs.dram_bytes;
  return {
      {{"compute", "multiply-adds at the rate that their number in flight allows", compute * spill / tail},
       {"issue", "loads, stores and broadcasts", issue * spill / tail},
       {"l2", "traffic between L1 and L2", l1 / tail},
       {"l3", "traffic between L2 and L3", l2 / tail},
       {"dram", "traffic beyond the last cache", dram},
       {"divisions", "integer divisions", divisions * kCpuDivisionCycles / core_cycles, false},
       {"tasks", "starting the threads", unlog(row[column.blocks]) / roofs.cores * kCpuPartSeconds, false}}};
}

}  // namespace

const Machine kCpuMachine = {
    .line_bytes = 64,  // a cache line of common CPUs
    .residency = &cpu_residency,
    .capacities = &cpu_capacities,
    .products_per_lane = &cpu_products_per_lane,
    .usual_gflops = &cpu_usual_gflops,
    .usual_gbytes = 20,
    .terms = &cpu_terms,
    .ranks_defaults = true,
    .first_picks = 0,
};

}  // namespace lehr
