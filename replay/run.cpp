// Proposes, looks up, learns: see run.h.
#include "replay/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <set>

#include "costmodel/features.h"
#include "replay/origin.h"
#include "tune/past_tasks.h"
#include "tune/searcher.h"

namespace lehr {
namespace {

// Whether the first config of each family can still be lowered.
bool lowers(const Table& table, const RowOfConfig& row_of) {
  std::set<std::string> families;
  std::vector<float> row(feature_table().size());
  for (const TableRow& each : table.rows)
    if (families.insert(each.config.family).second && !row_of(each.config, row)) return false;
  return true;
}

// Returns the function that writes the feature rows of a table's kernels, if the table is from one of our
// logs and its configs can still be lowered; else an empty function.
RowOfConfig rows_of_kernels(const Table& table) {
  if (!table.origin) return {};
  RowOfConfig row_of = lowered_rows(*table.origin);
  return lowers(table, row_of) ? row_of : RowOfConfig();
}

bool same_knobs(const Config& config, const Space& space) {
  const FamilySpace* family = space.family(config.family);
  return family && std::ranges::equal(config.knobs, family->knobs(), {}, &KnobValue::name, &Knob::name);
}

// Returns the positions of the rows to learn from.
std::vector<std::size_t> chosen(const std::vector<TableRow>& rows) {
  std::vector<std::size_t> timed;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].time_us) timed.push_back(i);
  std::ranges::stable_sort(timed, {}, [&](std::size_t i) { return *rows[i].time_us; });
  if (timed.size() <= Transfer::kMostRows) return timed;
  const auto fastest = timed.begin() + Transfer::kMostRows / 4;
  std::vector<std::size_t> others(fastest, timed.end());
  Rng rng(0);
  rng.shuffle(others);
  std::ranges::copy(others.begin(), others.begin() + Transfer::kMostRows * 3 / 4, fastest);
  timed.resize(Transfer::kMostRows);
  return timed;
}

}  // namespace

RowOfConfig lowered_rows(const TableOrigin& origin) {
  return [kernels = kernels_of(origin)](const Config& config, std::span<float> row) {
    const std::optional<Point> point = kernels ? kernels->space.find(config) : std::nullopt;
    if (!point) return false;
    try {
      featurize(kernels->lower(*point), kernels->limits, row);
      return true;
    } catch (const std::exception&) {  // a template that throws must not end the reader of a log
      return false;
    }
  };
}

std::optional<PastTask> past_task(const Table& source, const RecordedTask& task) {
  const Table& table = task.table();
  if (source.kernel == table.kernel && source.device == table.device) return std::nullopt;
  RowOfConfig row_of;
  if (!task.knobs()) {
    row_of = rows_of_kernels(source);
    if (!row_of) return std::nullopt;
  } else if (!std::ranges::all_of(
                 source.rows, [&](const TableRow& row) { return same_knobs(row.config, task.space()); })) {
    return std::nullopt;
  } else {
    row_of = [&](const Config& config, std::span<float> row) {
      task.knobs()->row_of(config, row);
      return true;
    };
  }
  PastTask past{fmt::format("{} on {} ({})", source.kernel, source.device, source.file),
                1,
                {},
                FeatureMatrix(task.columns()),
                {}};
  std::vector<float> row(task.columns());
  for (const std::size_t i : chosen(source.rows)) {
    if (!row_of(source.rows[i].config, row)) continue;
    past.configs.push_back(source.rows[i].config);
    past.rows.append(row);
    past.times_us.push_back(*source.rows[i].time_us);
  }
  if (past.times_us.empty()) return std::nullopt;
  if (table.origin && source.origin)
    past.weight = std::exp2(-distance(table.origin->workload, source.origin->workload) / 2);
  return past;
}

RecordedTask::RecordedTask(const Table& table, bool raw_knobs) : table_(&table), space_(space_of(table)) {
  for (const TableRow& row : table.rows) times_.emplace(space_.point_of(row.config), row.time_us);
  if (const RowOfConfig lower_row = raw_knobs ? RowOfConfig() : rows_of_kernels(table)) {
    columns_ = feature_table().size();
    // A search needs the same rows many times, so each config is lowered once.
    std::vector<float> row(columns_);
    for (const TableRow& each : table.rows)
      if (lower_row(each.config, row)) rows_.emplace(space_.point_of(each.config), row);
    row_of_ = [this](const Point& point, std::span<float> into) {
      const auto found = rows_.find(point);
      if (found == rows_.end()) return false;
      std::ranges::copy(found->second, into.begin());
      return true;
    };
    return;
  }
  knobs_ = std::make_unique<KnobFeatures>(space_, raw_knobs ? KnobColumns::kRaw : KnobColumns::kWithPairs);
  columns_ = knobs_->names().size();
  row_of_ = knobs_->rows();
}

std::vector<double> replay(const RecordedTask& task, const ReplayOptions& options) {
  Tuner tuner = make_tuner(options.strategy, task.space(), options.seed);
  tuner.row_of = task.row_of();
  tuner.columns = task.columns();
  Searcher searcher(std::move(tuner), options.seed, 1);
  std::vector<double> best;
  double best_us = std::numeric_limits<double>::infinity();
  if (options.transfer)  // there is no prior here
    searcher.start_from(*options.transfer, false,
                        options.transfer->first_picks(task.space(), Transfer::kWarmStarts));
  std::deque<Point> pending;
  for (bool exhausted = false; best.size() < options.trials;) {
    while (!exhausted && pending.size() < std::min(options.in_flight, options.trials - best.size())) {
      searcher.refit_if_due();
      const std::optional<Proposal> pick = searcher.next();
      if (pick)
        pending.push_back(pick->point);
      else
        exhausted = true;
    }
    if (pending.empty()) break;
    const Measurement result{pending.front(), task.time_us(pending.front())};
    pending.pop_front();
    best_us = std::min(best_us, result.time_us.value_or(best_us));
    best.push_back(best_us);
    searcher.observe({&result, 1}, best_us);
  }
  return best;
}

}  // namespace lehr
