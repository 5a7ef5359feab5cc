// The roofline as one session knows it: the most that the device was seen to reach, and a kernel's share of
// it.
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
  kMemory,      ///< the memory's rate, in GB/s
};

inline constexpr std::string_view kF32Units = "f32", kTensorCores = "tensor cores";

/// The highest rates that are known of a device for one workload. 0: not known.
struct Peaks {
  double gflops = 0;                   ///< of the units that do its operations fastest
  double gbytes_per_s = 0;             ///< as Limits::dram_gbytes_per_s
  std::string_view units = kF32Units;  ///< kF32Units, kTensorCores, or the type that they multiply
  double per_f32 = 0;                  ///< products of vector units in the time of one of f32; 0: not known
};

/// Returns the peaks by the device's limits. A sum as exact as 3xtf32's costs three products of tf32. On a
/// GPU a convolution with one channel per group is not a matrix product: its units are those of f32. A CPU's
/// rates are multiples of its f32 rate (Machine::products_per_lane).
Peaks peaks_of(const Workload& workload, const Limits& limits);

/// Returns Template::saves_products of a family; false for one that this version does not have.
bool saves_products(std::string_view family);

/// Measures a roof again and returns it in its unit: the arithmetic in about 15 ms, the memory in some tenths
/// of a second. Nothing else must be running.
using Prober = std::function<double(Roof)>;

/// Times of one workload as shares of what the device can reach. Roofs begin with the limits' rates and only
/// rise: to each higher probe, and to each checked kernel that exceeds them. The limits themselves do not
/// change: lowering, models and the log must not depend on how busy the machine was.
///
/// A kernel's operations are those of the direct sum: products with the image, but not with padding, which
/// some families skip. Only a family that saves products may have a share above 1.
class Roofline {
 public:
  /// Knows no roof: it has no share for any time, and every time is plausible.
  Roofline() = default;
  Roofline(const Workload& workload, const Limits& limits);

  /// Takes a probe's `rate` of a roof, in the roof's unit, for arithmetic in f32. A lower rate than the roof
  /// was measured in a busier moment and is ignored, as is any rate of a roof that is not known.
  void probed(Roof roof, double rate);
  /// Takes a bound that the device surely does not exceed by much, `gflops` of f32. Only why_implausible()
  /// uses it.
  void bounded(double gflops);
  /// Takes the time of a kernel of `family` whose result was right. A family that saves products does not
  /// raise the arithmetic's roof.
  void reached(std::string_view family, double time_us);
  /// Does the same with the time as measured: the correction by the reference kernel is not a speed that was
  /// reached.
  void reached(std::string_view family, const Timing& timing);
  /// Probes the roof that binds, unless probes have had their share of the session's time. A single probe at
  /// the start may meet a machine that is busy with something else.
  void probe(const Prober& prober, const std::function<double()>& elapsed_s);

  /// Explains in one clause why no right kernel can have taken `time_us`; "" if one can. Implausible is a
  /// time whose operations need more than four times the best probe or bound of the device, or more than its
  /// limits allow for the workload's units. The operations are the direct sum's, or the kernel's own if these
  /// are fewer (Winograd's); `own_flops` is called only if it matters. Probes on a busy machine may be far
  /// off: before a time is called implausible, `bound`, if not empty, is called for bounds. Only a time that
  /// no burst of clocks explains is a kernel's fault.
  std::string why_implausible(double time_us, const std::function<double()>& own_flops,
                              const std::function<double()>& bound = {});

  bool known() const { return peaks_.gflops > 0; }
  /// Returns the roof that bounds the workload. The memory's bounds it only if the operands do not fit the
  /// caches.
  Roof binding() const;
  /// Whether all operands fit the caches.
  bool in_caches() const { return bytes_ == 0; }
  /// Returns the fastest possible time of a direct sum over `time_us`: the larger share of the two roofs,
  /// above 0. It is at most 1 for a time that reached() got with a family that saves no products. nullopt: a
  /// rate is not known, or the time is not above 0.
  std::optional<double> share(double time_us) const;
  const Peaks& peaks() const { return peaks_; }
  /// Returns a time of a kernel of `family` as it is reported: not below any of its samples, nor below what
  /// the device can do.
  Time told(std::string_view family, const Timing& timing) const;

 private:
  double gflops_of_us(double time_us) const { return flops_ / time_us * 1e-3; }
  double gbytes_of_us(double time_us) const { return bytes_ / time_us * 1e-3; }

  double flops_ = 0;
  double bytes_ = 0;  // 0: all operands fit the caches
  Peaks peaks_;
  double probed_gflops_ = 0;  // as Peaks::gflops, but raised only by probes and bounds
  // By Roof: first a guess, then the cost of the last probe.
  std::array<double, 2> probe_cost_s_ = {0.02, 0.1};
  double probing_s_ = 0;
};

/// Explains a share above 100 % for people, in one sentence without a full stop. Returns "" if the share
/// rounds to 100 % or less.
std::string_view why_above_all(double share);

/// Returns the prober of a CPU with these limits. Empty for other devices, whose rates follow from their
/// clocks.
Prober prober_of(const Limits& limits);

/// Returns a function that measures the bound for Roofline::bounded() in some tens of milliseconds. Empty for
/// devices whose rates follow from their clocks.
std::function<double()> bound_of(const Limits& limits);

}  // namespace lehr
