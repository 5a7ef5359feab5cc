// Sorts a copy of the samples: their number is small.
#include "measure/core/stats.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"

namespace lehr {
namespace {

constexpr double kEstimateFraction = 0.25;
constexpr double kConfidence = 0.95;

std::vector<double> sorted(std::span<const double> samples) {
  CHECK(!samples.empty(), "no samples");
  std::vector<double> result(samples.begin(), samples.end());
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace

double percentile(std::span<const double> samples, double fraction) {
  CHECK(fraction >= 0 && fraction <= 1, "fraction={}", fraction);
  const std::vector<double> values = sorted(samples);
  const double position = fraction * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (position - static_cast<double>(below)) * (values[above] - values[below]);
}

double median(std::span<const double> samples) {
  return percentile(samples, 0.5);
}

double spread(std::span<const double> samples) {
  const double middle = median(samples);
  return middle == 0 ? 0 : (percentile(samples, 0.75) - percentile(samples, 0.25)) / middle;
}

double estimate(std::span<const double> samples) {
  return percentile(samples, kEstimateFraction);
}

Interval quantile_interval(std::span<const double> samples, double fraction) {
  CHECK(fraction > 0 && fraction < 1, "fraction={}", fraction);
  const std::vector<double> values = sorted(samples);
  const std::size_t n = values.size();
  if (n == 1) return {values[0], values[0]};
  // The number of samples below the quantile is binomial. If it is k, the quantile lies between the k-th
  // sample and the next one. For k = 0 and k = n there would have to be a bound beyond the samples.
  const double log_odds = std::log(fraction / (1 - fraction));
  double log_term = static_cast<double>(n) * std::log1p(-fraction);
  std::vector<double> chance(n + 1);
  for (std::size_t k = 0; k <= n; ++k) {
    chance[k] = std::exp(log_term);
    log_term += log_odds + std::log(static_cast<double>(n - k) / static_cast<double>(k + 1));
  }
  std::size_t first = 1;
  for (std::size_t k = 2; k < n; ++k)
    if (chance[k] > chance[first]) first = k;
  std::size_t last = first;
  double covered = chance[first];
  while (covered < kConfidence && (first > 1 || last + 1 < n)) {
    const double below = first > 1 ? chance[first - 1] : -1;
    const double above = last + 1 < n ? chance[last + 1] : -1;
    covered += std::max(below, above);
    if (below > above)
      --first;
    else
      ++last;
  }
  return {values[first - 1], values[last]};
}

Interval estimate_interval(std::span<const double> samples) {
  return quantile_interval(samples, kEstimateFraction);
}

Interval interval_of(const Timing& timing) {
  if (timing.samples_us.empty())
    return {timing.time_us * std::max(0.0, 1 - timing.spread / 2), timing.time_us * (1 + timing.spread / 2)};
  const double raw = estimate(timing.samples_us);
  const double correction = raw > 0 ? timing.time_us / raw : 1;
  const Interval interval = estimate_interval(timing.samples_us);
  return {interval.low * correction, interval.high * correction};
}

double corrected_us(double raw_us, double beside_us, double usual_us) {
  if (beside_us <= 0 || usual_us <= 0) return raw_us;
  return raw_us * std::clamp(usual_us / beside_us, 1 / kLargestCorrection, kLargestCorrection);
}

}  // namespace lehr
