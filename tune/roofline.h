// The roofline as one session knows it: the highest rates that the device was seen to reach, and a kernel's
// fraction of them.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "record/outcome.h"
#include "workload/workload.h"

namespace lehr {

enum class Roof {
  kArithmetic,  ///< operations, in GFLOP/s
  kMemory,      ///< bytes moved, in GB/s
};

inline constexpr std::string_view kF32Units = "f32", kTensorCores = "tensor cores";

/// The highest rates of a device that are known for one workload. 0: not known.
struct Peaks {
  double gflops = 0;                   ///< rate of the units that do the workload's operations fastest
  double gbytes_per_s = 0;             ///< as Limits::dram_gbytes_per_s
  std::string_view units = kF32Units;  ///< kF32Units, kTensorCores, or the type that they multiply
  /// Products that vector units compute in the time of one f32 product; 0: not known.
  double per_f32 = 0;
};

/// Returns the peaks according to the device's limits. An accumulation as exact as 3xtf32's costs three tf32
/// products. On a GPU a convolution with one channel per group is not a matrix product, so its units are the
/// f32 units. A CPU's rates are multiples of its f32 rate (Machine::products_per_lane).
Peaks peaks_of(const Workload& workload, const Limits& limits);

/// Returns Template::is_winograd of a family; false for one that this version does not have.
bool is_winograd(std::string_view family);

/// Measures a roof again and returns its rate in the roof's unit. The arithmetic takes about 15 ms, the
/// memory some tenths of a second. Nothing else must be running.
using Prober = std::function<double(Roof)>;

/// Expresses times of one workload as fractions of what the device can reach. Roofs begin at the rates of
/// `limits` and only rise: to each higher probe, and to each checked kernel that exceeds them. `limits` do
/// not change: lowering, models and the log must not depend on how busy the machine was.
///
/// A kernel's operations are counted as if each product of the definition were computed: products with the
/// image, but not with padding, which some families skip. Only a family that saves products may have a
/// fraction above 1.
class Roofline {
 public:
  /// Knows no roof: it returns no fraction for any time, and every time is plausible.
  Roofline() = default;
  Roofline(const Workload& workload, const Limits& limits);

  /// Adds the `rate` that a probe measured, in the roof's unit; for arithmetic it is the f32 rate. A rate
  /// below the roof was measured while the machine was busier and is ignored. Any rate of a roof that is not
  /// known is ignored, too.
  void probed(Roof roof, double rate);
  /// Adds a bound that the device does not exceed by much: `gflops` of f32. Only why_implausible() uses it.
  void bounded(double gflops);
  /// Adds the time of a kernel of `family` whose result was right. A family that saves products does not
  /// raise the arithmetic roof.
  void reached(std::string_view family, double time_us);
  /// Does the same with the uncorrected time of `timing`. A time corrected by the reference kernel is not a
  /// speed that was reached.
  void reached(std::string_view family, const Timing& timing);
  /// Probes the roof that binds, unless probes have used up their fraction of the session's time. A single
  /// probe at the start would not do, since another program may be running at that moment.
  void probe(const Prober& prober, const std::function<double()>& elapsed_s);

  /// Explains in one clause why no correct kernel can have taken `time_us`; returns "" if one can. A time is
  /// implausible if its operations need more than four times the best probe or bound of the device, or more
  /// than the device's limits allow for the workload's units. The operations are those of the definition, or
  /// the kernel's own if these are fewer (Winograd); `own_flops` returns the kernel's own and is called only
  /// if it matters. Probes on a busy machine may be far off. So `bound`, if not empty, is called for another
  /// bound before a time is called implausible. Only a time that no burst of clocks explains is a kernel's
  /// fault.
  std::string why_implausible(double time_us, const std::function<double()>& own_flops,
                              const std::function<double()>& bound = {});

  bool known() const { return peaks_.gflops > 0; }
  /// Returns the roof that bounds the workload. The memory roof bounds it only if the operands do not fit the
  /// caches.
  Roof binding() const;
  /// Whether all operands fit the caches.
  bool in_caches() const { return bytes_ == 0; }
  /// Returns the fastest possible time of the workload's operations divided by `time_us`, above 0. It is the
  /// larger fraction of the two roofs. It is at most 1 for a time that was given to reached() for a family
  /// that saves no products. nullopt: a rate is not known, or the time is not above 0.
  std::optional<double> share(double time_us) const;
  const Peaks& peaks() const { return peaks_; }
  /// Returns the time to report for a kernel of `family`. It is not below any of the samples, nor below what
  /// the device can do.
  Time reported(std::string_view family, const Timing& timing) const;

 private:
  double gflops_of_us(double time_us) const { return flops_ / time_us * 1e-3; }
  double gbytes_of_us(double time_us) const { return bytes_ / time_us * 1e-3; }

  double flops_ = 0;
  double bytes_ = 0;  // 0: all operands fit the caches
  Peaks peaks_;
  double probed_gflops_ = 0;  // as Peaks::gflops, but raised only by probes and bounds
  // One value per Roof: at first a guess, then the cost of the last probe.
  std::array<double, 2> probe_cost_s_ = {0.02, 0.1};
  double probing_s_ = 0;
};

/// Explains for users why a fraction is above 100 %, in one sentence without a full stop. Returns "" if the
/// fraction rounds to 100 % or less.
std::string_view why_above_all(double share);

/// Returns the prober of a CPU with these limits. It is empty for other devices, whose rates follow from
/// their clocks.
Prober prober_of(const Limits& limits);

/// Returns a function that measures the bound for Roofline::bounded() in some tens of milliseconds. It is
/// empty for devices whose rates follow from their clocks.
std::function<double()> bound_of(const Limits& limits);

}  // namespace lehr
