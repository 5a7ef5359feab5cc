// Point -> score: features and model over many candidates. The hot path of the search.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/fork_join.h"
#include "costmodel/features.h"
#include "search/strategy.h"
#include "tune/task.h"

namespace lehr {

/// Returns one score per feature row; higher is better. Called from several threads at once.
using Predict = std::function<std::vector<double>(const FeatureMatrix&)>;

/// Makes feature rows and scores on `threads` threads, and keeps the rows of this session. Between calls none
/// of its threads runs, so it does not disturb timings.
class Scorer {
 public:
  /// Rows have `columns` values, made by `row_of`.
  Scorer(std::size_t columns, RowOf row_of, int threads);

  std::size_t columns() const { return columns_; }
  /// Returns one row per point. A point without a row gets zeros.
  FeatureMatrix features(std::span<const Point> points);
  /// Returns `predict`'s score per point, higher is better. A point without a row gets -infinity.
  std::vector<double> score(std::span<const Point> points, const Predict& predict);

  std::uint64_t scored() const { return scored_; }  ///< number of points that were scored
  /// Returns the number of rows that were made. The other rows were kept from earlier calls.
  std::uint64_t made() const { return made_; }

 private:
  struct Remembered {
    std::uint32_t row;
    std::uint32_t place = 0;  // position in the rows of call number `call`
    std::uint64_t call = 0;   // last call that needed it
  };
  /// A row that a call needs. Two equal points share it.
  struct Needed {
    std::uint32_t row;
    const Point* point;
    Remembered* remembered;
    bool known;   // an earlier call made it
    bool failed;  // the point has no row
  };
  struct Call {
    std::vector<Needed> rows;
    std::vector<std::uint32_t> of_point;  // position in `rows` of each point's row
  };
  Call look_up(std::span<const Point> points);
  /// Makes the row of `needed` if it is not known.
  void make(Needed& needed);
  /// Stores which rows have failed. Call it after make().
  void settle(const Call& call);
  std::span<float> row(std::uint32_t index) const;

  static constexpr std::uint32_t kNoRow = 0xffffffffu;
  std::size_t columns_;
  RowOf row_of_;
  std::size_t capacity_;  // maximum number of rows that are kept; if exceeded, all are dropped
  ForkJoin threads_;
  std::unordered_map<Point, Remembered, PointHash> index_;
  std::vector<std::unique_ptr<float[]>> chunks_;
  std::uint32_t used_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t scored_ = 0, made_ = 0;
};

}  // namespace lehr
