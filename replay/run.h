// One search on a recorded table: the tuner of `tune` with the table instead of the measurer.
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
  const Transfer* transfer = nullptr;  ///< from other tables; nullptr: a cold start
  std::size_t trials = 256;
  /// Number of configs that are proposed before the first of them has its result: pick i knows the results up
  /// to i - in_flight.
  std::size_t in_flight = 1;
  std::uint64_t seed = 0;
};

/// A table prepared for searches, made once for many of them.
class RecordedTask {
 public:
  /// Borrows `table`. Features are those of the kernels if the table is from one of our logs and its configs
  /// can still be lowered, else those of the knobs. `raw_knobs`: always the knobs as they are.
  RecordedTask(const Table& table, bool raw_knobs);
  RecordedTask(const RecordedTask&) = delete;  // row_of() refers to it

  const Table& table() const { return *table_; }
  const Space& space() const { return space_; }
  /// Returns the row's time, as if it were measured; nullopt if it failed.
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
  std::unordered_map<Point, std::vector<float>, PointHash> rows_;  // of kernels
  RowOf row_of_;
};

/// As RowOf, for configs, which need not be of a space.
using RowOfConfig = std::function<bool(const Config& config, std::span<float> row)>;
/// Returns rows of the kernels that the templates of today make from configs; a config that cannot be lowered
/// has none.
RowOfConfig lowered_rows(const TableOrigin& origin);

/// Returns the rows of `source` in a form that the search on `task` can learn from; nullopt if it is a
/// recording of the same kernel on the same device, if it has other knobs, or if only one of them is lowered
/// to kernels. It has at most Transfer::kMostRows rows: the fastest quarter and a choice of the others.
std::optional<PastTask> past_task(const Table& source, const RecordedTask& task);

/// Returns the fastest time after each trial, in microseconds; infinity until one has a time. It has
/// min(trials, rows) elements. The same options give the same result.
std::vector<double> replay(const RecordedTask& task, const ReplayOptions& options);

}  // namespace lehr
