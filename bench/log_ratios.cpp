// See log_ratios.h.
#include "bench/log_ratios.h"

#include <fmt/core.h>

#include <cmath>

namespace lehr {

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double standard_error(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const auto n = static_cast<double>(values.size());
  const double middle = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  return std::sqrt(squares / (n * (n - 1)));
}

std::string ratio_text(const std::vector<double>& log_ratios) {
  if (log_ratios.empty()) return "-";
  return fmt::format("{:.3f} +-{:.1f} %", std::exp(mean(log_ratios)), 100 * standard_error(log_ratios));
}

}  // namespace lehr
