// One search on a recorded table: the tuner of `tune` with the table in the place of the measurer.
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
  const Transfer* transfer = nullptr;  ///< what other tables tell; nullptr: a cold start
  std::size_t trials = 256;
  /// So many are proposed before the first of them is answered: pick i knows the results up to i - slots.
  std::size_t slots = 1;
  std::uint64_t seed = 0;
};

/// What a search has to go by on a table, made once for many searches.
class RecordedTask {
 public:
  /// Borrows `table`. Features are those of the kernels where the table is of one of our logs and its configs
  /// can still be lowered, else those of the knobs. `raw_knobs`: the knobs as they are, in any case.
  RecordedTask(const Table& table, bool raw_knobs);
  RecordedTask(const RecordedTask&) = delete;  // row_of() refers to it

  const Table& table() const { return *table_; }
  const Space& space() const { return space_; }
  /// What measuring would answer: the row's time, nullopt if it failed.
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

/// As RowOf, of configs, which need not be of a space.
using RowOfConfig = std::function<bool(const Config& config, std::span<float> row)>;
/// Rows of the kernels that the templates of today make of configs; a config that cannot be lowered has none.
RowOfConfig lowered_rows(const TableOrigin& origin);

/// The rows of `source` as the search on `task` can learn from them: nullopt if it is a recording of the
/// same kernel on the same device, if it has other knobs, or if one of them is lowered to kernels and the
/// other is not. At most Transfer::kMostRows rows, the fastest quarter and a choice of the others.
std::optional<PastTask> past_task(const Table& source, const RecordedTask& task);

/// Fastest time after each trial, in microseconds; infinity until one has a time. min(trials, rows) long. The
/// same for the same options.
std::vector<double> replay(const RecordedTask& task, const ReplayOptions& options);

}  // namespace lehr
