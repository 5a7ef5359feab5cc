// Random search without replacement, computed in closed form. Searches are compared with it.
#pragma once

#include <cstddef>
#include <vector>

#include "replay/table.h"

namespace lehr {

/// The results of n draws without replacement from the rows of a table. Failures are drawn like other rows
/// and give no time. While only failures were drawn, the table's slowest time counts as the best time.
class RandomBaseline {
 public:
  explicit RandomBaseline(const Table& table);

  std::size_t rows() const { return rows_; }
  double optimum_us() const { return sorted_us_.front(); }
  double median_us() const { return sorted_us_[sorted_us_.size() / 2]; }
  double slowest_us() const { return sorted_us_.back(); }
  /// Returns the expected best time after n draws. It is the sum, over the times v_i in ascending order, of
  /// v_i times P(the best draw is row i), with i from 0 and P(the best draw is row i or slower) = C(rows - i,
  /// n) / C(rows, n). If n exceeds the number of rows, that number counts. 0 draws give the slowest time.
  double expected_us(std::size_t n) const;
  /// Returns the time that the best of n draws does not exceed with probability `chance`, which is in (0, 1).
  double quantile_us(std::size_t n, double chance) const;
  /// Returns the number of draws after which the best time is at most `us` with probability `chance`. It is
  /// at most rows(). It is 0 if no row is as fast as `us`.
  std::size_t draws_to(double us, double chance) const;

 private:
  /// Returns P(n draws contain none of `good` given rows).
  double miss(std::size_t good, std::size_t n) const;

  std::size_t rows_;
  std::vector<double> sorted_us_;  // times of the rows that have a time, ascending
};

}  // namespace lehr
