// One search on a recorded table. It is the search of `tune`, with the table in place of the measurer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "replay/table.h"
#include "tune/knob_features.h"
#include "tune/transfer.h"
#include "tune/tuner.h"

namespace lehr {

struct ReplayOptions {
  std::string strategy = "anneal";
  /// Knowledge from other tables; nullptr: the search starts without any.
  const Transfer* transfer = nullptr;
  std::size_t trials = 256;
  /// Number of configs that are proposed before the result of the first of them is known: pick i is made with
  /// the results of the picks up to i - in_flight.
  std::size_t in_flight = 1;
  std::uint64_t seed = 0;
};

/// A table prepared for searches. It is made once and used by many searches.
class RecordedTask {
 public:
  /// Borrows `table`. If the table is from one of our logs and its configs can still be lowered, features are
  /// those of the kernels. If not, features are made from the knobs. `raw_knobs`: features are always the
  /// knobs' values.
  RecordedTask(const Table& table, bool raw_knobs);
  RecordedTask(const RecordedTask&) = delete;  // row_of() refers to it

  const Table& table() const { return *table_; }
  const Space& space() const { return space_; }
  /// Returns the time of the point's row in place of a measurement; nullopt if the row is a failure.
  std::optional<double> time_us(const Point& point) const { return times_.at(point); }
  std::size_t columns() const { return columns_; }
  const RowOf& row_of() const { return row_of_; }
  const KnobFeatures* knobs() const { return knobs_.get(); }  ///< nullptr: features are those of the kernels

 private:
  const Table* table_;
  Space space_;
  std::unordered_map<Point, std::optional<double>, PointHash> times_;
  std::unique_ptr<KnobFeatures> knobs_;
  std::size_t columns_ = 0;
  std::unordered_map<Point, std::vector<float>, PointHash> rows_;  // feature rows of kernels
  RowOf row_of_;
};

/// Writes a feature row as RowOf does, but for a config, which need not be in a space.
using RowOfConfig = std::function<bool(const Config& config, std::span<float> row)>;
/// Returns a function that writes the feature rows of the kernels that the templates of this version make
/// from configs. It returns false for a config that cannot be lowered.
RowOfConfig lowered_rows(const TableOrigin& origin);

/// Returns the rows of `source` in the form that the search on `task` can learn from. Returns nullopt if
/// `source` is a recording of the same kernel on the same device, if it has other knobs, or if only one of
/// the two has features of kernels. The result has at most Transfer::kMostRows rows: the fastest quarter and
/// a selection of the others.
std::optional<PastTask> past_task(const Table& source, const RecordedTask& task);

/// Returns the fastest time so far after each trial, in microseconds; infinity until a trial has a time. It
/// has min(trials, rows) elements. The same options give the same result.
std::vector<double> replay(const RecordedTask& task, const ReplayOptions& options);

}  // namespace lehr
