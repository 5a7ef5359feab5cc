// Order statistics on a sorted copy: sample counts are small.
#include "measure/stats.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"

namespace lehr {
namespace {

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

double trimmed_mean(std::span<const double> samples, double fraction) {
  CHECK(fraction >= 0 && fraction < 0.5, "fraction={}", fraction);
  const std::vector<double> values = sorted(samples);
  const auto dropped = static_cast<std::size_t>(std::floor(static_cast<double>(values.size()) * fraction));
  double total = 0;
  for (std::size_t i = dropped; i < values.size() - dropped; ++i) total += values[i];
  return total / static_cast<double>(values.size() - 2 * dropped);
}

double estimate(std::span<const double> samples) {
  return percentile(samples, 0.25);
}

}  // namespace lehr
