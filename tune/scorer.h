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

/// Feature rows -> one score each, higher is better. Called from several threads at once.
using Predict = std::function<std::vector<double>(const FeatureMatrix&)>;

/// Featurises and scores on `threads` threads, remembers the rows of this session, and asks a model.
/// Quiet between calls: no thread of its own runs while candidates are timed.
class Scorer {
 public:
  /// Rows of `columns` values, made by `row_of`.
  Scorer(std::size_t columns, RowOf row_of, int threads);

  std::size_t columns() const { return columns_; }
  /// One row per point. A point that has none gets a row of zeros.
  FeatureMatrix features(std::span<const Point> points);
  /// `predict`'s score per point, higher is better; a point that has no row gets -infinity.
  std::vector<double> score(std::span<const Point> points, const Predict& predict);

  std::uint64_t scored() const { return scored_; }  ///< points that were scored
  /// Points whose row had to be made (the others were remembered).
  std::uint64_t made() const { return made_; }

 private:
  struct Remembered {
    std::uint32_t row;
    std::uint32_t place = 0;  // in the rows of call number `call`
    std::uint64_t call = 0;   // the last that needed it
  };
  /// A row that a call needs; the same point twice needs it once.
  struct Needed {
    std::uint32_t row;
    const Point* point;
    Remembered* remembered;
    bool known;   // it was made by an earlier call
    bool failed;  // the point has none
  };
  struct Call {
    std::vector<Needed> rows;
    std::vector<std::uint32_t> of_point;  // position in `rows`, one per point
  };
  Call look_up(std::span<const Point> points);
  /// Makes the row if it is not known.
  void make(Needed& needed);
  /// To be called after make(): what has failed is remembered as such.
  void settle(const Call& call);
  std::span<float> row(std::uint32_t index) const;

  static constexpr std::uint32_t kNoRow = 0xffffffffu;
  std::size_t columns_;
  RowOf row_of_;
  std::size_t capacity_;  // rows that may be remembered; all are forgotten when it is exceeded
  ForkJoin threads_;
  std::unordered_map<Point, Remembered, PointHash> index_;
  std::vector<std::unique_ptr<float[]>> chunks_;
  std::uint32_t used_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t scored_ = 0, made_ = 0;
};

}  // namespace lehr
