// Our own logs as tables: see formats.h.
#include <algorithm>
#include <charconv>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "database/database.h"
#include "replay/formats.h"

namespace lehr {
namespace {

// Cache sizes of current server cores: features need some, the log stores none, and they must not depend on
// the machine that replays.
Limits cpu_limits(const std::string& arch, int cores) {
  Limits limits;
  limits.target = Target::kCpu;
  limits.arch = arch;
  limits.cores = cores;
  limits.vector_bytes = arch == "avx512" ? 64 : arch == "avx2" ? 32 : 16;
  limits.vector_registers = arch == "avx512" || arch == "neon" ? 32 : 16;
  limits.l1_bytes = 48 << 10;
  limits.l2_bytes = 2 << 20;
  limits.l3_bytes = 32 << 20;
  limits.peak_gflops_f32 = 2.0 * 2 * limits.vector_bytes / 4 * 2.5 * cores;  // two FMA units at 2.5 GHz
  limits.dram_gbytes_per_s = 20;
  return limits;
}

// The number in " | cores=2 | " of an identity (measure/device.h).
int cores_of(const std::string& identity) {
  int cores = 1;
  const std::size_t at = identity.find("cores=");
  if (at != std::string::npos)
    std::from_chars(identity.data() + at + 6, identity.data() + identity.size(), cores);
  return std::max(1, cores);
}

// "Intel Xeon, 2 cores": what tells devices apart and still fits a table.
std::string short_name(const std::string& identity) {
  const std::vector<std::string_view> parts = split(identity, '|');
  if (parts.size() < 4) return identity;
  std::string name(parts[1]);
  name = name.substr(std::min(name.size(), name.find_first_not_of(' ')));
  name.resize(name.find_last_not_of(' ') + 1);
  return fmt::format("{}, {} cores", name, cores_of(identity));
}

std::optional<TableOrigin> origin_of(const Record& row) {
  try {
    Limits limits = row.target == "cuda" ? cuda_limits(row.arch) : cpu_limits(row.arch, cores_of(row.device));
    limits.cores = cores_of(row.device);
    return TableOrigin{parse_workload(row.workload), limits};
  } catch (const Error&) {
    return std::nullopt;  // a workload or device of a newer version: its knobs remain
  }
}

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
    if (const auto* timing = std::get_if<Timing>(&record.outcome))
      rows[at][row->second].times_us.push_back(timing->time_us);
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
