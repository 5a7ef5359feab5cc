// Counts the contents of a log, and checks whether its rows are still as they were written.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "base/error.h"
#include "database/bulk.h"
#include "database/schema.h"
#include "database/wal_file.h"

namespace lehr {
namespace {

using sqlite::Row;
using sqlite::Statement;

std::int64_t size_on_disk(const std::string& path) {
  std::int64_t bytes = 0;
  for (const char* suffix : {"", "-wal"}) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path + suffix, error);
    if (!error) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

/// The devices that sound trials name, with the number of these trials, and the devices that have rows.
struct Naming {
  std::map<std::int64_t, std::int64_t> named;
  std::set<std::int64_t> there;
};

std::int64_t& count_of(const LogTable& table, Verification& result) {
  if (&table == &trial_table()) return result.records;
  if (&table == &verdict_table()) return result.verdicts;
  if (&table == &origin_table()) return result.origins;
  return &table == &algorithm_table() ? result.algorithms : result.devices;
}

void verify_table(const Database::Impl& impl, const LogTable& table, Verification& result, Naming& devices) {
  const bool trial = &table == &trial_table(), verdict = &table == &verdict_table();
  const auto device_hash = static_cast<std::size_t>(
      std::ranges::find(table.columns, "device_hash", &Column::name) - table.columns.begin());
  Statement rows = impl.connection.prepare(select_from(table, true));
  while (rows.step()) {
    Row row = rows.row();
    const std::int64_t seq = std::get<std::int64_t>(row.front());
    row.erase(row.begin());
    ++count_of(table, result);
    if (const std::string problem = why_damaged(table, row); !problem.empty()) {
      const auto* id = std::get_if<std::string>(&row[verdict ? 3 : 0]);
      result.damaged.push_back({std::string(table.name), seq, id ? *id : "", problem});
    } else if (trial) {
      if (const auto device = std::get<std::int64_t>(row[device_hash]); device != 0) ++devices.named[device];
    } else if (&table == &device_table()) {
      devices.there.insert(std::get<std::int64_t>(row.back()));
    }
  }
}

}  // namespace

DatabaseStats Database::stats() const {
  const sqlite::Connection& connection = impl_->connection;
  DatabaseStats stats;
  stats.schema_version = kSchemaVersion;
  const std::string path = connection.path();
  stats.file_bytes =
      path.empty() ? connection.query_int("PRAGMA page_count") * connection.query_int("PRAGMA page_size")
                   : size_on_disk(path);
  stats.verdicts = connection.query_int("SELECT count(*) FROM verdict");
  stats.devices = connection.query_int("SELECT count(*) FROM device");
  stats.algorithms = connection.query_int("SELECT count(*) FROM algorithm");
  struct Task {
    TaskStats stats;
    std::map<std::string, std::int64_t, std::less<>> failed;
  };
  std::map<std::pair<std::string, std::string>, Task, std::less<>> tasks;
  std::unordered_set<std::string> sessions;
  Statement rows =
      connection.prepare("SELECT workload, device, outcome, session, created_unix_ms FROM trial");
  while (rows.step()) {
    ++stats.records;
    Row row = rows.row();
    const auto text = [&row](std::size_t i) {  // "" if damage has changed its type
      auto* value = std::get_if<std::string>(&row[i]);
      return value ? std::move(*value) : std::string();
    };
    std::pair<std::string, std::string> key(text(0), text(1));
    const std::string outcome = text(2);
    sessions.insert(text(3));
    const auto* created = std::get_if<std::int64_t>(&row[4]);
    const std::int64_t at = created ? *created : 0;
    const auto [found, fresh] = tasks.try_emplace(std::move(key));
    Task& task = found->second;
    task.stats.first_unix_ms = fresh ? at : std::min(task.stats.first_unix_ms, at);
    task.stats.last_unix_ms = fresh ? at : std::max(task.stats.last_unix_ms, at);
    ++(outcome == "timing" ? task.stats.timed : task.failed[outcome]);
  }
  stats.sessions = static_cast<std::int64_t>(sessions.size());
  for (const auto& [session, log] : origins())
    if (sessions.contains(session)) ++stats.merged_sessions[log];
  for (auto& [key, task] : tasks) {
    task.stats.workload = key.first;
    task.stats.device = key.second;
    if (task.stats.timed > 0)
      if (const std::optional<Record> fastest = best({key.first, key.second, "", ""}))
        task.stats.best_us = *fastest->time_us();
    task.stats.failed.insert(task.failed.begin(), task.failed.end());
    stats.tasks.push_back(std::move(task.stats));
  }
  return stats;
}

Verification Database::verify() const {
  Verification result;
  // Damage may end the reading of a table at any row. The rows before that one count.
  const auto look = [&](auto&& action) {
    try {
      action();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kEnvironment) throw;
      result.structure.push_back(error.what());
    }
  };
  look([&] {
    Statement check = impl_->connection.prepare("PRAGMA integrity_check");
    while (check.step())
      if (std::string line = check.get<std::string>(0); line != "ok")
        result.structure.push_back(std::move(line));
  });
  if (std::string damage = path().empty() ? "" : damage_of_wal(path()); !damage.empty())
    result.structure.push_back(std::move(damage));
  Naming devices;
  for (const LogTable* table : log_tables()) look([&] { verify_table(*impl_, *table, result, devices); });
  for (const auto& [device, trials] : devices.named)
    if (!devices.there.contains(device)) result.without_device += trials;
  return result;
}

}  // namespace lehr
