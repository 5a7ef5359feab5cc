// Our own logs as tables: see formats.h.
#include <algorithm>
#include <map>

#include "base/error.h"
#include "database/database.h"
#include "replay/formats.h"
#include "replay/origin.h"

namespace lehr {
namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::vector<Table> read_log(const std::string& file) {
  const Database database = Database::open_read_only(file);
  struct Known {
    TableRow row;
    std::vector<double> times_us;
  };
  std::map<std::pair<std::string, std::string>, std::size_t> index;
  std::vector<Table> tables;
  std::vector<std::vector<Known>> rows;
  std::vector<std::unordered_map<Config, std::size_t, ConfigHash>> known;
  for (const Record& record : database.all({})) {
    const auto [found, inserted] = index.try_emplace({record.workload, record.device}, tables.size());
    const std::size_t at = found->second;
    if (inserted) {
      Table table;
      table.file = file;
      table.kernel = record.workload;
      table.device = short_name(record.device);
      table.origin = origin_of(record);
      tables.push_back(std::move(table));
      rows.emplace_back();
      known.emplace_back();
    }
    const auto [row, fresh] = known[at].try_emplace(record.config, rows[at].size());
    if (fresh) rows[at].push_back({{record.config, std::nullopt}, {}});
    if (const auto us = record.time_us()) rows[at][row->second].times_us.push_back(*us);
  }
  std::vector<Table> result;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    for (Known& each : rows[i]) {
      if (!each.times_us.empty()) each.row.time_us = median(each.times_us);
      tables[i].rows.push_back(std::move(each.row));
    }
    if (std::ranges::any_of(tables[i].rows, [](const TableRow& row) { return row.time_us.has_value(); }))
      result.push_back(std::move(tables[i]));
  }
  if (result.empty()) throw_user("{} holds no timed trial: there is nothing to search for", file);
  return result;
}

}  // namespace lehr
