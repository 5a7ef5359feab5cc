// Our own logs as tables: see formats.h.
#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "database/database.h"
#include "replay/formats.h"
#include "replay/origin.h"
#include "tune/stored_kernel.h"

namespace lehr {
namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Returns one row per config. If a config has several timings, its time is their median.
std::vector<TableRow> rows_of(const std::vector<Record>& records) {
  struct Known {
    TableRow row;
    std::vector<double> times_us;
  };
  std::vector<Known> known;
  std::unordered_map<Config, std::size_t, ConfigHash> position;
  for (const Record& record : records) {
    const auto [found, fresh] = position.try_emplace(record.config, known.size());
    if (fresh) known.push_back({{record.config, std::nullopt}, {}});
    if (const auto us = record.time_us()) known[found->second].times_us.push_back(*us);
  }
  std::vector<TableRow> rows;
  for (Known& each : known) {
    if (!each.times_us.empty()) each.row.time_us = median(std::move(each.times_us));
    rows.push_back(std::move(each.row));
  }
  return rows;
}

// Counts the times that were measured with other kernels than those that `kernels` makes. Without `kernels`
// it counts nothing.
void count_changed_kernels(const std::vector<Record>& records, const std::optional<KernelSpace>& kernels,
                           Table& table) {
  for (const Record& record : records)
    if (record.time_us() && (!kernels || !is_as_measured(record, *kernels))) ++table.other_kernels;
}

}  // namespace

std::vector<Table> read_log(const std::string& file) {
  const Database database = Database::open_read_only(file);
  const LoggedFacts facts = database.devices();
  std::map<std::pair<std::string, std::string>, std::size_t> index;
  std::vector<std::vector<Record>> tasks;
  for (Record& record : database.all({})) {
    const auto [found, inserted] = index.try_emplace({record.workload, record.device}, tasks.size());
    if (inserted) tasks.emplace_back();
    tasks[found->second].push_back(std::move(record));
  }
  std::vector<Table> tables;
  for (std::vector<Record>& records : tasks) {
    if (std::ranges::none_of(records, [](const Record& record) { return record.time_us().has_value(); }))
      continue;
    Table table;
    table.file = file;
    table.kernel = records[0].workload;
    table.device = short_name(records[0].device);
    table.origin = origin_of(records, facts);
    const std::optional<KernelSpace> kernels = table.origin ? kernels_of(*table.origin) : std::nullopt;
    count_changed_kernels(records, kernels, table);
    table.rows = rows_of(records);
    tables.push_back(std::move(table));
  }
  if (tables.empty()) throw_user("{} holds no timed trial: there is nothing to search for", file);
  return tables;
}

}  // namespace lehr
