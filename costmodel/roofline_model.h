// The analytic cost model. It needs no data, so it ranks a task's very first candidates, and a learnt model
// is compared with it.
//
//   time = longest(compute, traffic_l / bandwidth_l per memory level l, instructions / issue rate, copies
//          that the pipeline keeps in flight) / tail + a tenth of the others + latency that nothing covers
//
// This is the roofline model (Williams, Waterman & Patterson, CACM 2009) with one roof per memory level. The
// features show which part of the peaks stays unused: lanes, latency hiding, spilled registers, the last
// wave. The constants are orders of magnitude that hold for all machines of one kind; machine_cpu.cpp and
// machine_cuda.cpp give the reason for each. The result is good enough to rank kernels, not to predict times.
#pragma once

#include <span>
#include <vector>

#include "base/limits.h"
#include "costmodel/machine.h"
#include "costmodel/model.h"

namespace lehr {

class RooflineModel : public CostModel {
 public:
  /// `limits` must be those of the device for which the rows were computed. Guesses replace peaks that are
  /// not known (0).
  explicit RooflineModel(const Limits& limits);
  /// From now on, register arrays that exceed the registers cost nothing on a CPU. That is right for
  /// schedules whose main loop is known to fit into the registers, such as every default, and wrong for all
  /// others. (Arrays of a kernel's other sections, such as the patches of Winograd's transforms, would
  /// otherwise be counted as spills in its main loop.)
  void trust_registers() { roofs_.trusts_registers = true; }

  /// Learns nothing.
  void fit(const Dataset& data) override;
  /// Returns minus the logarithm of the estimated time.
  std::vector<double> predict(const FeatureMatrix& rows) const override;
  /// Returns the estimated time of one feature row in microseconds; > 0.
  double time_us(std::span<const float> row) const;
  /// Returns the terms from which time_us() computes the time.
  std::vector<TimeTerm> terms(std::span<const float> row) const;

 private:
  const Machine& machine_;
  RooflineColumns column_;  // looked up once
  Roofs roofs_;
};

}  // namespace lehr
