// The roofs, which rise, and the number of operations of a workload's definition.
#include "tune/roofline.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "costmodel/machine.h"
#include "measure/core/stats.h"
#include "measure/worker/backends.h"
#include "templates/catalog.h"
#include "workload/operator.h"

namespace lehr {
namespace {

/// Returns the types of the operands that are multiplied.
std::vector<DType> multiplied(const Workload& workload) {
  std::vector<DType> types;
  for (const TensorSpec& tensor : tensors_of(workload))
    if (tensor.role == TensorRole::kInput) types.push_back(tensor.type);
  return types;
}

/// Returns the highest GFLOP/s that tensor cores reach for products of `type`, with any kernel. 0: they
/// cannot compute such products, or the rate is not known.
double tensor_gflops(DType type, Math math, const Limits& limits) {
  switch (type) {
    case DType::kF16:
      return limits.tensor_gflops_f16;
    case DType::kBF16:
      return limits.has(Ability::kBF16) ? limits.tensor_gflops_f16 : 0;
    case DType::kF32:
      if (math == Math::kStrict) return 0;
      return limits.tensor_gflops_tf32 / (math == Math::k3xTf32 ? 3 : 1);
    case DType::kS8:
      return limits.tensor_gflops_s8;
    case DType::kE4M3:
    case DType::kE5M2:
      return limits.tensor_gflops_f8;
    default:
      return 0;
  }
}

/// Returns how many products of `types` vector units compute in the time of one f32 product; 0: not known. A
/// GPU converts shorter floats in parallel to the products, so these take no longer than f32's.
double vector_gain(const std::vector<DType>& types, const Workload& workload, const Limits& limits) {
  const bool integers = std::ranges::all_of(types, is_integer);
  if (accum_of(workload) != (integers ? DType::kS32 : DType::kF32)) return 0;
  const auto per_lane = machine_of(limits.target).products_per_lane;
  if (per_lane == nullptr) return integers ? 0 : 1;
  double least = per_lane(types.front(), limits);
  for (const DType type : types)
    least = size_of(type) == size_of(types.front()) ? std::min(least, per_lane(type, limits)) : 0;
  return least;
}

void raise(double& roof, double rate) {
  if (roof > 0) roof = std::max(roof, rate);
}

double raw_us(const Timing& timing) {
  return timing.samples_us.empty() ? timing.time_us : estimate(timing.samples_us);
}

}  // namespace

Peaks peaks_of(const Workload& workload, const Limits& limits) {
  const std::vector<DType> types = multiplied(workload);
  Peaks peaks = {.gbytes_per_s = limits.dram_gbytes_per_s};
  peaks.per_f32 = vector_gain(types, workload, limits);
  peaks.gflops = peaks.per_f32 * limits.peak_gflops_f32;
  if (peaks.per_f32 > 1) peaks.units = name_of(types.back());
  if (!limits.target.has(Feature::kTensorCores) || !sums_of(workload).of_matrices) return peaks;
  double most = tensor_gflops(types.front(), math_of(workload), limits);
  for (const DType type : types) most = std::min(most, tensor_gflops(type, math_of(workload), limits));
  if (most > peaks.gflops) peaks.units = kTensorCores;
  peaks.gflops = std::max(most, peaks.gflops);
  return peaks;
}

bool is_winograd(std::string_view family) {
  const auto known = std::ranges::find(catalog(), family, &Template::name);
  return known != catalog().end() && known->is_winograd;
}

Roofline::Roofline(const Workload& workload, const Limits& limits)
    : flops_(needed_flops_of(workload)), peaks_(peaks_of(workload, limits)), probed_gflops_(peaks_.gflops) {
  const double caches =
      static_cast<double>(limits.l2_bytes) * (limits.target.has(Feature::kL2PerCore) ? limits.cores : 1) +
      static_cast<double>(limits.l3_bytes);
  if (min_bytes_of(workload) > caches) bytes_ = min_bytes_of(workload);
}

void Roofline::probed(Roof roof, double rate) {
  if (roof == Roof::kMemory) return raise(peaks_.gbytes_per_s, rate);
  raise(peaks_.gflops, peaks_.per_f32 * rate);
  raise(probed_gflops_, peaks_.per_f32 * rate);
}

void Roofline::bounded(double gflops) {
  raise(probed_gflops_, peaks_.per_f32 * gflops);
}

void Roofline::reached(std::string_view family, double time_us) {
  if (time_us <= 0) return;
  if (!is_winograd(family)) raise(peaks_.gflops, gflops_of_us(time_us));
  raise(peaks_.gbytes_per_s, gbytes_of_us(time_us));
}

void Roofline::reached(std::string_view family, const Timing& timing) {
  reached(family, raw_us(timing));
}

void Roofline::probe(const Prober& prober, const std::function<double()>& elapsed_s) {
  constexpr double kShare = 0.005;  // fraction of the session's time
  if (!prober || !known()) return;
  const Roof roof = binding();
  double& cost_s = probe_cost_s_[static_cast<std::size_t>(roof)];
  const double begin_s = elapsed_s();
  if (probing_s_ + cost_s > kShare * begin_s) return;
  probed(roof, prober(roof));
  cost_s = elapsed_s() - begin_s;
  probing_s_ += cost_s;
}

Time Roofline::reported(std::string_view family, const Timing& timing) const {
  Time time = {timing.time_us, interval_of(timing)};
  if (timing.samples_us.empty()) return time;
  const bool too_fast = !is_winograd(family) && share(timing.time_us).value_or(0) > 1;
  time.us = std::max(too_fast ? raw_us(timing) : timing.time_us, std::ranges::min(timing.samples_us));
  return time;
}

std::string Roofline::why_implausible(double time_us, const std::function<double()>& own_flops,
                                      const std::function<double()>& bound) {
  // A probe on a busy machine may be half of the real peak, and clocks rise.
  constexpr double kSurelyTooFast = 4;
  constexpr int kBounds = 3;
  for (int again = 0;; ++again) {
    const double most_flops = kSurelyTooFast * probed_gflops_ * 1e3 * time_us;
    if (flops_ <= 0 || probed_gflops_ <= 0 || flops_ <= most_flops) return "";
    const double own = own_flops();
    if (own <= most_flops) return "";
    if (bound && again < kBounds) {
      bounded(bound());
      continue;
    }
    const double flops = std::min(own, flops_);
    return fmt::format(
        "{:.3g} us for {:.3g} operations are {:.3g} GFLOP/s, and the most that is known of the device is "
        "{:.3g}",
        time_us, flops, flops / time_us * 1e-3, probed_gflops_);
  }
}

Roof Roofline::binding() const {
  const bool memory = bytes_ * peaks_.gflops > flops_ * peaks_.gbytes_per_s;
  return memory ? Roof::kMemory : Roof::kArithmetic;
}

std::optional<double> Roofline::share(double time_us) const {
  if (flops_ <= 0 || time_us <= 0 || peaks_.gflops <= 0) return std::nullopt;
  // Rates are compared, not times. So the fraction of a kernel that has set a roof is exactly 1.
  double share = gflops_of_us(time_us) / peaks_.gflops;
  if (bytes_ > 0) {
    if (peaks_.gbytes_per_s <= 0) return std::nullopt;
    share = std::max(share, gbytes_of_us(time_us) / peaks_.gbytes_per_s);
  }
  return share;
}

std::string_view why_above_all(double share) {
  if (std::lround(100 * share) <= 100) return "";
  return "more than 100 %: Winograd's algorithm does fewer operations than the direct sum that is counted";
}

Prober prober_of(const Limits& limits) {
  const Backend& backend = backend_of(limits.target);
  if (backend.peak_gflops == nullptr) return {};
  return [limits, &backend](Roof roof) {
    return roof == Roof::kArithmetic ? backend.peak_gflops(limits) : backend.read_gbytes(limits);
  };
}

std::function<double()> bound_of(const Limits& limits) {
  const Backend& backend = backend_of(limits.target);
  if (backend.burst_gflops == nullptr) return {};
  return [limits, &backend] { return backend.burst_gflops(limits); };
}

}  // namespace lehr
