// Random search without replacement, in closed form: the baseline of a search.
#pragma once

#include <cstddef>
#include <vector>

#include "replay/table.h"

namespace lehr {

/// The results of n draws without replacement from the rows of a table. Failures are drawn like other rows
/// and give no time. While only failures were drawn, the best time counts as the table's slowest.
class RandomBaseline {
 public:
  explicit RandomBaseline(const Table& table);

  std::size_t rows() const { return rows_; }
  double optimum_us() const { return sorted_us_.front(); }
  double median_us() const { return sorted_us_[sorted_us_.size() / 2]; }
  double slowest_us() const { return sorted_us_.back(); }
  /// Returns the expected best time after n draws: the sum over the times in ascending order, v_i times P(the
  /// best is number i), with P(best is i or slower) = C(rows - i, n) / C(rows, n) for i from 0. n is cut to
  /// the number of rows; 0 draws give the slowest time.
  double expected_us(std::size_t n) const;
  /// Returns the time that the best of n draws does not exceed with probability `chance` in (0, 1).
  double quantile_us(std::size_t n, double chance) const;
  /// Returns the draws after which the best is at most `us` with probability `chance`: rows() at most, 0 if
  /// no row is so fast.
  std::size_t draws_to(double us, double chance) const;

 private:
  /// Returns P(none of `good` rows is among n draws).
  double miss(std::size_t good, std::size_t n) const;

  std::size_t rows_;
  std::vector<double> sorted_us_;  // of the rows with a time
};

}  // namespace lehr
