// Computes hypergeometric sums by logarithms of factorials.
#include "replay/random_baseline.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace lehr {

RandomBaseline::RandomBaseline(const Table& table) : rows_(table.rows.size()) {
  for (const TableRow& row : table.rows)
    if (row.time_us) sorted_us_.push_back(*row.time_us);
  CHECK(!sorted_us_.empty(), "{}: no row has a time", table.file);
  std::ranges::sort(sorted_us_);
}

double RandomBaseline::miss(std::size_t good, std::size_t n) const {
  if (n > rows_ - good) return 0;
  // C(rows - good, n) / C(rows, n)
  const auto log_factorial = [](std::size_t x) { return std::lgamma(static_cast<double>(x) + 1); };
  return std::exp(log_factorial(rows_ - good) - log_factorial(rows_ - good - n) - log_factorial(rows_) +
                  log_factorial(rows_ - n));
}

double RandomBaseline::expected_us(std::size_t n) const {
  n = std::min(n, rows_);
  double expected = 0, reached = 1;
  for (std::size_t i = 0; i < sorted_us_.size() && reached > 0; ++i) {
    const double left = miss(i + 1, n);
    expected += sorted_us_[i] * (reached - left);
    reached = left;
  }
  return expected + reached * slowest_us();
}

double RandomBaseline::quantile_us(std::size_t n, double chance) const {
  n = std::min(n, rows_);
  // Finds the first time v_i with P(one of the i + 1 fastest is drawn) >= chance.
  std::size_t low = 0, high = sorted_us_.size() - 1;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (1 - miss(middle + 1, n) >= chance)
      high = middle;
    else
      low = middle + 1;
  }
  return sorted_us_[low];
}

std::size_t RandomBaseline::draws_to(double us, double chance) const {
  const auto good = static_cast<std::size_t>(std::ranges::upper_bound(sorted_us_, us) - sorted_us_.begin());
  if (good == 0) return 0;
  std::size_t low = 1, high = rows_;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (1 - miss(good, middle) >= chance)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

}  // namespace lehr
