// Ratios of runs, averaged by their logarithms: geometric means with their errors.
#pragma once

#include <string>
#include <vector>

namespace lehr {

/// Returns the mean; 0 without values.
double mean(const std::vector<double>& values);
/// Returns the standard error of the mean of `values`; 0 with fewer than two.
double standard_error(const std::vector<double>& values);
/// Returns "1.234 +-2.2 %" for the logarithms of ratios: their geometric mean and its standard error; "-"
/// without any.
std::string ratio_text(const std::vector<double>& log_ratios);

}  // namespace lehr
