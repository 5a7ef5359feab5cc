#include "costmodel/machine.h"

#include <algorithm>
#include <cmath>

#include "costmodel/features.h"

namespace lehr {
namespace {

constexpr std::array kMachines = {&kCpuMachine, &kCudaMachine};
static_assert(kMachines.size() == kTargets.size());

}  // namespace

const Machine& machine_of(Target target) {
  return *kMachines[target.index()];
}

void Residency::place_on(int cores, double usable) {
  const double all = std::max(1.0, static_cast<double>(cores));
  waves = blocks / (usable * blocks_per_core);
  wave_efficiency = (waves > 0 ? waves / std::ceil(waves) : 1) * usable / all;
}

double unlog(float value) {
  return std::exp2(static_cast<double>(value)) - 1;
}

double spill_factor(double pressure) {
  return pressure > 1 ? 1 + 2 * (pressure - 1) : 1;
}

RooflineColumns::RooflineColumns()
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
      pipeline_depth(feature_index("pipeline_depth")),
      tensor_gain(feature_index("tensor_gain")),
      stage_turns(feature_index("stage_turns")),
      product_waits(feature_index("product_waits")),
      cluster_blocks(feature_index("cluster_blocks")),
      global_written(feature_index("global_written")),
      store_sectors(feature_index("store_sectors")),
      accelerator_written(feature_index("accelerator_written")),
      staged_written(feature_index("staged_written")) {}

}  // namespace lehr
