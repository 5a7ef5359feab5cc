// Ratios of runs, averaged as what they are: geometric means with their errors.
#pragma once

#include <string>
#include <vector>

namespace lehr {

/// 0 of none.
double mean(const std::vector<double>& values);
/// Of the mean of `values`; 0 with fewer than two.
double standard_error(const std::vector<double>& values);
/// Of the logarithms of ratios: "1.234 +-2.2 %", their geometric mean and its standard error; "-" of none.
std::string ratio_text(const std::vector<double>& log_ratios);

}  // namespace lehr
