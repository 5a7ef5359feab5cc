// The roofline as one session knows it: the most that the device was seen to do, and a kernel's share of it.
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
  kMemory,      ///< what the memory delivers, in GB/s
};

inline constexpr std::string_view kF32Units = "f32", kTensorCores = "tensor cores";

/// The most that a device is known to do for one workload. 0: not known.
struct Peaks {
  double gflops = 0;                   ///< of the units that can do its operations fastest
  double gbytes_per_s = 0;             ///< as Limits::dram_gbytes_per_s
  std::string_view units = kF32Units;  ///< or kTensorCores, or the type that they multiply
  double per_f32 = 0;  ///< of vector units: their products in the time of one of f32; 0: not known
};

/// What the limits say of it. Sums as exact as 3xtf32's cost three products of tf32. On a GPU a convolution
/// with one channel a group is no product of matrices: its units are those of f32. A CPU's rates are
/// multiples of its f32 (Machine::products_per_lane).
Peaks peaks_of(const Workload& workload, const Limits& limits);

/// Template::saves_products of a family; false for one that this version does not have.
bool saves_products(std::string_view family);

/// Measures a roof anew, in its unit: the arithmetic in about 15 ms, the memory in some tenths of a second.
/// Nothing else must be running.
using Prober = std::function<double(Roof)>;

/// Times of one workload as shares of what the device can do. Roofs begin with the limits' rates and only
/// rise: to each probe and to each checked kernel that is above them. The limits themselves stay as they are:
/// lowering, models and the log must not depend on how busy the machine was.
///
/// A kernel's operations are those that the direct sum needs: products with the image, none with padding,
/// which some families skip. A family that saves products may be above the whole; no other is.
class Roofline {
 public:
  /// Knows nothing: it tells no share, and every time is plausible.
  Roofline() = default;
  Roofline(const Workload& workload, const Limits& limits);

  /// A probe of a roof gave `rate`, in the roof's unit, of arithmetic in f32. A lower one was taken in a
  /// busier moment and says nothing, nor does any for a roof that is not known.
  void probed(Roof roof, double rate);
  /// The device surely does not exceed `gflops` of f32 by much: a bound for why_implausible() alone.
  void bounded(double gflops);
  /// A kernel of `family` whose result was right took `time_us` microseconds. One that saves products says
  /// nothing about the arithmetic.
  void reached(std::string_view family, double time_us);
  /// The same as it was timed: the correction by the reference kernel is no speed that was reached.
  void reached(std::string_view family, const Timing& timing);
  /// Asks for a probe of the roof that binds, where those so far have had less than their share of the
  /// session's time. One at the start may meet a machine that is busy with something else.
  void probe(const Prober& prober, const std::function<double()>& elapsed_s);

  /// "", or why no kernel that was right can have taken `time_us`, one clause: its operations would need more
  /// than four times the best probe or bound of the device, or what its limits say of the workload's units.
  /// These are the direct sum's or, if they are fewer, the kernel's own (Winograd's), which are asked for
  /// where they matter. Probes on a busy machine may be anything: before it is called implausible, `bound` is
  /// asked for bounds, if it is not empty. Only what no burst comes near is a kernel's fault.
  std::string why_implausible(double time_us, const std::function<double()>& own_flops,
                              const std::function<double()>& bound = {});

  bool known() const { return peaks_.gflops > 0; }
  /// The roof that bounds the workload. The memory's bounds only what does not fit the caches.
  Roof binding() const;
  /// Whether all operands fit the caches.
  bool in_caches() const { return bytes_ == 0; }
  /// Fastest possible time of a direct sum / `time_us`: the larger share of the two roofs, above 0. Never
  /// above 1 for a time that was given to reached() with a family that saves nothing. nullopt: a rate is not
  /// known, or the time is not above 0.
  std::optional<double> share(double time_us) const;
  const Peaks& peaks() const { return peaks_; }
  /// A time of a kernel of `family` as it is told: no sample of it was faster, and no device is.
  Time told(std::string_view family, const Timing& timing) const;

 private:
  double gflops_of_us(double time_us) const { return flops_ / time_us * 1e-3; }
  double gbytes_of_us(double time_us) const { return bytes_ / time_us * 1e-3; }

  double flops_ = 0;
  double bytes_ = 0;  // 0: all operands fit the caches
  Peaks peaks_;
  double probed_gflops_ = 0;  // as Peaks::gflops, but raised by probes and bounds alone
  std::array<double, 2> probe_cost_s_ = {0.02, 0.1};  // by Roof: guessed, then what the last one took
  double probing_s_ = 0;
};

/// Why a share is above 100 %, for people: one sentence without a full stop. "" where it rounds to 100 % or
/// less.
std::string_view why_above_all(double share);

/// Of the CPU with these limits. Empty for other devices, whose rates follow from their clocks.
Prober prober_of(const Limits& limits);

/// Asks for Roofline::bounded(), in some tens of milliseconds. Empty for devices whose rates follow from
/// their clocks.
std::function<double()> bound_of(const Limits& limits);

}  // namespace lehr
