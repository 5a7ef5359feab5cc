// The analytic cost model: needs no data, so it ranks a task's very first candidates, and it is the
// comparison that a learnt model has to beat.
//
//   time = longest(compute, traffic_l / bandwidth_l per memory level l, instructions / issue rate, copies
//   that
//          the pipeline keeps in flight) / tail + a tenth of the others + exposed latency
//
// the roofline (Williams, Waterman & Patterson, CACM 2009) with one roof per memory level, and with the peaks
// lowered by what the features say is left idle: lanes, latency hiding, spilled registers, the last wave. Its
// constants are orders of magnitude that hold across the machines of each kind, each with its reason in
// roofline_model.cpp. What it returns is good for order, not for prediction of times.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "costmodel/model.h"

namespace lehr {

/// One part of an estimate.
struct TimeTerm {
  std::string_view name;     ///< "compute", "dram", ...
  std::string_view meaning;  ///< one phrase
  double us = 0;
  bool overlaps = true;  ///< of these the longest counts in full and the others a tenth; the rest is added
};

class RooflineModel : public CostModel {
 public:
  /// `limits` of the device that the rows were featurised for. Peaks that it does not know (0) are replaced
  /// by guesses.
  explicit RooflineModel(const Limits& limits);
  /// From now on register arrays that exceed the registers cost nothing on a CPU: right for schedules whose main loop is
  /// known to fit, as that of every default, and wrong for all others. The arrays of a kernel's other parts, such as the
  /// patches that Winograd's transforms hold, would else be charged to its whole time.
  void trust_registers() { trusts_registers_ = true; }

  /// Learns nothing.
  void fit(const Dataset& data) override;
  /// Minus the logarithm of the estimated time.
  std::vector<double> predict(const FeatureMatrix& rows) const override;
  /// Estimated microseconds of one feature row; > 0.
  double time_us(std::span<const float> row) const;
  /// What time_us() is made of.
  std::vector<TimeTerm> terms(std::span<const float> row) const;

 private:
  /// Terms in seconds, without an allocation: time_us() is on the search's hot path.
  using Terms = std::array<TimeTerm, 8>;
  Terms cpu_terms(std::span<const float> row) const;
  Terms cuda_terms(std::span<const float> row) const;

  /// Columns by role, looked up once.
  struct ColumnIndex {
    std::size_t flops, memory_instructions, arithmetic_instructions, arithmetic_lanes, intrinsic_flops_share,
        divisions_per_flop, l1_traffic, l2_traffic, llc_traffic, blocks_per_core, threads_per_block, blocks,
        wave_efficiency, shared_bytes, register_bytes, register_pressure, sector_bytes, shared_cycles,
        barriers, async_share, pipeline_depth;
    ColumnIndex();
  };

  ColumnIndex column_;
  bool cuda_;
  bool trusts_registers_ = false;
  double cores_;
  double vector_bytes_;
  double peak_flops_;  ///< per second, whole device
  double dram_bytes_;  ///< per second
};

}  // namespace lehr
