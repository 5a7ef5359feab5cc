// The analytic cost model: needs no data, so it ranks a task's very first candidates, and it is the
// comparison that a learnt model has to beat.
//
//   time = longest(compute, traffic_l / bandwidth_l per memory level l, instructions / issue rate, copies
//          that the pipeline keeps in flight) / tail + a tenth of the others + latency that nothing covers
//
// the roofline (Williams, Waterman & Patterson, CACM 2009) with one roof per memory level, and with the peaks
// lowered by what the features say is left idle: lanes, latency hiding, spilled registers, the last wave. Its
// constants are orders of magnitude that hold across the machines of each kind, each with its reason in
// machine_cpu.cpp and machine_cuda.cpp. What it returns is good for order, not for prediction of times.
#pragma once

#include <span>
#include <vector>

#include "base/limits.h"
#include "costmodel/machine.h"
#include "costmodel/model.h"

namespace lehr {

class RooflineModel : public CostModel {
 public:
  /// `limits` of the device that the rows were featurised for. Peaks that it does not know (0) are replaced
  /// by guesses.
  explicit RooflineModel(const Limits& limits);
  /// From now on register arrays that exceed the registers cost nothing on a CPU: right for schedules whose
  /// main loop is known to fit, as that of every default, and wrong for all others. The arrays of a kernel's
  /// other parts, such as the patches that Winograd's transforms hold, would else be charged to its whole
  /// time.
  void trust_registers() { roofs_.trusts_registers = true; }

  /// Learns nothing.
  void fit(const Dataset& data) override;
  /// Minus the logarithm of the estimated time.
  std::vector<double> predict(const FeatureMatrix& rows) const override;
  /// Estimated microseconds of one feature row; > 0.
  double time_us(std::span<const float> row) const;
  /// What time_us() is made of.
  std::vector<TimeTerm> terms(std::span<const float> row) const;

 private:
  const Machine& machine_;
  RooflineColumns column_;  // looked up once
  Roofs roofs_;
};

}  // namespace lehr
