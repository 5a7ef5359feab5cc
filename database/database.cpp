#include "database/database.h"

#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "base/error.h"
#include "base/hash.h"
#include "database/file_system.h"
#include "database/record_codec.h"
#include "database/schema.h"
#include "database/sqlite.h"

namespace lehr {
namespace {

using sqlite::Connection;
using sqlite::Row;
using sqlite::Statement;
using sqlite::Value;

// 128 bits from the operating system: unique across machines without any of them knowing the others.
std::string random_id() {
  std::uint64_t words[2];
  if (::getentropy(words, sizeof words) != 0) {
    throw_environment("the operating system gives no random numbers: {}", std::strerror(errno));
  }
  return to_hex(words[0]) + to_hex(words[1]);
}

std::int64_t now_unix_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

std::string select(std::span<const std::string_view> columns, std::string_view table) {
  return fmt::format("SELECT {} FROM {}", fmt::join(columns, ","), table);
}

std::string insert(std::span<const std::string_view> columns, std::string_view table, std::string_view rest) {
  std::string marks;
  for (std::size_t i = 0; i < columns.size(); ++i) marks += i == 0 ? "?" : ",?";
  return fmt::format("INSERT INTO {} ({}) VALUES ({}) {}", table, fmt::join(columns, ","), marks, rest);
}

// A WHERE clause for the non-empty fields among those named.
struct Where {
  std::string sql;
  Row values;

  void require(std::string_view condition, const std::string& value) {
    if (value.empty()) return;
    sql += sql.empty() ? " WHERE " : " AND ";
    sql += condition;
    values.emplace_back(value);
  }
};

Where where_record(const RecordFilter& filter) {
  Where where;
  where.require("workload=?", filter.workload);
  where.require("device=?", filter.device);
  where.require("target=?", filter.target);
  where.require("family=?", filter.family);
  return where;
}

bool matches(const std::string& wanted, const std::string& got) {
  return wanted.empty() || wanted == got;
}

std::int64_t size_on_disk(const std::string& path) {
  std::int64_t bytes = 0;
  for (const char* suffix : {"", "-wal"}) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path + suffix, error);
    if (!error) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

}  // namespace

struct Database::Impl {
  explicit Impl(Connection opened)
      : connection(std::move(opened)),
        insert_record(connection.prepare(
            insert(record_columns(), "trial", "ON CONFLICT(id) DO NOTHING RETURNING seq"))),
        insert_verdict(connection.prepare(insert(verdict_columns(), "verdict", ""))) {}

  Connection connection;
  Statement insert_record;
  Statement insert_verdict;

  // False if a record with this id is already there.
  bool add(const Record& record) {
    insert_record.bind(encode(record));
    bool added = false;
    while (insert_record.step()) added = true;  // the commit is part of the last step
    return added;
  }

  void add(const Verdict& verdict) {
    insert_verdict.bind(encode(verdict));
    insert_verdict.step();
  }

  // The fastest undamaged row of one group, if it is faster than `bound_us`.
  std::optional<Record> best_of_group(const Row& group, double bound_us) const {
    Statement rows = connection.prepare(select(record_columns(), "trial INDEXED BY trial_by_time") +
                                        " WHERE workload=? AND device=? AND target=? AND family=? AND "
                                        "time_us>0 AND time_us<? ORDER BY time_us, seq");
    Row values = group;
    values.emplace_back(bound_us);
    rows.bind(values);
    while (rows.step()) {
      std::optional<Record> record = decode_record(rows.row());
      if (record && std::holds_alternative<Timing>(record->outcome)) return record;
    }
    return std::nullopt;
  }

  // Groups (workload, device, target, family) lie one after the other in the index; each is found by a seek
  // behind the one before, so the cost grows with the number of groups and not of rows, whichever fields the
  // filter leaves open.
  std::optional<Record> best_in_groups(const RecordFilter& filter) const {
    Statement next = connection.prepare(
        "SELECT workload, device, target, family FROM trial INDEXED BY trial_by_time"
        " WHERE (workload, device, target, family, time_us) > (?,?,?,?,?)"
        " ORDER BY workload, device, target, family LIMIT 1");
    // SQLite seeks a row value with >= and steps over what is equal; no time is infinite, so nothing is.
    constexpr double kBehindTheGroup = std::numeric_limits<double>::infinity();
    std::optional<Record> best;
    double best_us = std::numeric_limits<double>::infinity();
    Row group = {filter.workload, std::string(), std::string(), std::string()};  // no family is empty
    for (;;) {
      Row from = group;
      from.emplace_back(kBehindTheGroup);
      next.bind(from);
      if (!next.step()) return best;
      group = next.row();
      const auto text = [&group](std::size_t i) { return std::get<std::string>(group[i]); };
      if (!matches(filter.workload, text(0))) return best;
      if (!matches(filter.device, text(1)) || !matches(filter.target, text(2)) ||
          !matches(filter.family, text(3)))
        continue;
      std::optional<Record> record = best_of_group(group, best_us);
      if (!record) continue;
      best_us = std::get<Timing>(record->outcome).time_us;
      best = std::move(record);
    }
  }
};

Database::Database(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Database Database::open(const std::filesystem::path& path) {
  const bool in_memory = path == ":memory:";
  if (!in_memory) check_place(path);
  Connection connection(path, sqlite::Mode::kReadWrite);
  schema_version(connection);  // whose file it is: before anything is written to it
  if (connection.read_only()) {
    throw_environment("the database '{}' cannot be written: the file or its directory is read-only",
                      connection.path());
  }
  if (!in_memory) connection.use_durable_log();
  migrate(connection);
  return Database(std::make_unique<Impl>(std::move(connection)));
}

Database Database::open_read_only(const std::filesystem::path& path) {
  check_place(path);
  Connection connection(path, read_only_mode(path));
  const int version = schema_version(connection);
  if (version == 0) throw_user("'{}' is empty: no Lehr database was made in it yet", path.string());
  if (version < migrations().back().version) {
    throw_user(
        "'{}' has schema version {} and must be brought to {}: open it once with a command that writes to it",
        path.string(), version, migrations().back().version);
  }
  return Database(std::make_unique<Impl>(std::move(connection)));
}

Record Database::append(const Record& record) {
  Record stored = record;
  if (stored.id.empty()) stored.id = random_id();
  if (stored.created_unix_ms == 0) stored.created_unix_ms = now_unix_ms();
  if (impl_->add(stored)) return stored;
  std::optional<Record> present = find(stored.id);
  if (present && record.created_unix_ms == 0) stored.created_unix_ms = present->created_unix_ms;
  if (!present || encode(*present) != encode(stored)) {
    throw_user("the database '{}' already has another record with the id {}", impl_->connection.path(),
               stored.id);
  }
  return stored;
}

void Database::append(const Verdict& verdict) {
  Verdict stored = verdict;
  if (stored.created_unix_ms == 0) stored.created_unix_ms = now_unix_ms();
  impl_->add(stored);
}

std::int64_t Database::merge(const Database& other) {
  sqlite::Transaction transaction(impl_->connection);
  std::int64_t added = 0;
  Statement records = other.impl_->connection.prepare(select(record_columns(), "trial") + " ORDER BY seq");
  while (records.step()) {
    const std::optional<Record> record = decode_record(records.row());
    if (record && impl_->add(*record)) ++added;
  }
  // A verdict has no id; its checksum stands for its content.
  std::set<Value> present;
  Statement checksums = impl_->connection.prepare("SELECT checksum FROM verdict");
  while (checksums.step()) present.insert(checksums.row()[0]);
  Statement verdicts =
      other.impl_->connection.prepare(select(verdict_columns(), "verdict") + " ORDER BY seq");
  while (verdicts.step()) {
    const Row row = verdicts.row();
    const std::optional<Verdict> verdict = decode_verdict(row);
    if (verdict && present.insert(row.back()).second) impl_->add(*verdict);
  }
  transaction.commit();
  return added;
}

std::optional<Record> Database::best(const RecordFilter& filter) const {
  return impl_->best_in_groups(filter);
}

std::vector<Record> Database::all(const RecordFilter& filter) const {
  const Where where = where_record(filter);
  Statement rows = impl_->connection.prepare(select(record_columns(), "trial") + where.sql + " ORDER BY seq");
  rows.bind(where.values);
  std::vector<Record> records;
  while (rows.step()) {
    if (std::optional<Record> record = decode_record(rows.row())) records.push_back(std::move(*record));
  }
  return records;
}

std::vector<Verdict> Database::verdicts(const RecordFilter& filter) const {
  Where where;
  where.require("workload=?", filter.workload);
  where.require("device=?", filter.device);
  where.require("EXISTS (SELECT 1 FROM trial WHERE trial.id=record_id AND trial.target=?)", filter.target);
  Statement rows =
      impl_->connection.prepare(select(verdict_columns(), "verdict") + where.sql + " ORDER BY seq DESC");
  rows.bind(where.values);
  std::vector<Verdict> newest;
  std::set<std::pair<std::string, std::string>> seen;
  while (rows.step()) {
    std::optional<Verdict> verdict = decode_verdict(rows.row());
    if (verdict && seen.emplace(verdict->workload, verdict->device).second)
      newest.push_back(std::move(*verdict));
  }
  std::reverse(newest.begin(), newest.end());
  return newest;
}

DatabaseStats Database::stats() const {
  DatabaseStats stats;
  stats.schema_version = schema_version(impl_->connection);
  const std::string path = impl_->connection.path();
  stats.file_bytes = path.empty() ? impl_->connection.query_int("PRAGMA page_count") *
                                        impl_->connection.query_int("PRAGMA page_size")
                                  : size_on_disk(path);
  std::map<std::pair<std::string, std::string>, TaskStats> tasks;
  std::map<std::pair<std::string, std::string>, std::map<std::string, std::int64_t>> failures;
  std::set<std::string> sessions;
  Statement rows = impl_->connection.prepare(select(record_columns(), "trial") + " ORDER BY seq");
  while (rows.step()) {
    ++stats.records;
    const std::optional<Record> record = decode_record(rows.row());
    if (!record) {
      ++stats.damaged;
      continue;
    }
    sessions.insert(record->session);
    const std::pair key(record->workload, record->device);
    TaskStats& task = tasks[key];
    const std::int64_t at = record->created_unix_ms;
    task.first_unix_ms = task.workload.empty() ? at : std::min(task.first_unix_ms, at);
    task.last_unix_ms = std::max(task.last_unix_ms, at);
    task.workload = record->workload;
    task.device = record->device;
    if (const auto* timing = std::get_if<Timing>(&record->outcome)) {
      task.best_us = task.timed == 0 ? timing->time_us : std::min(task.best_us, timing->time_us);
      ++task.timed;
    } else {
      ++failures[key][std::string(name_of(std::get<Failure>(record->outcome).kind))];
    }
  }
  stats.sessions = static_cast<std::int64_t>(sessions.size());
  for (auto& [key, task] : tasks) {
    const auto& failed = failures[key];
    task.failed.assign(failed.begin(), failed.end());
    stats.tasks.push_back(std::move(task));
  }
  return stats;
}

std::optional<Record> Database::find(const std::string& id) const {
  Statement row = impl_->connection.prepare(select(record_columns(), "trial") + " WHERE id=?");
  row.bind(std::vector<Value>{id});
  return row.step() ? decode_record(row.row()) : std::nullopt;
}

std::vector<std::pair<std::string, std::int64_t>> Database::sessions() const {
  Statement rows =
      impl_->connection.prepare("SELECT session, count(*) FROM trial GROUP BY session ORDER BY min(seq)");
  std::vector<std::pair<std::string, std::int64_t>> sessions;
  while (rows.step()) sessions.emplace_back(rows.get<std::string>(0), rows.get<std::int64_t>(1));
  return sessions;
}

std::vector<std::string> Database::verify() const {
  std::vector<std::string> findings;
  Statement check = impl_->connection.prepare("PRAGMA integrity_check");
  while (check.step()) {
    std::string line = check.get<std::string>(0);
    if (line != "ok") findings.push_back("the file's structure is damaged: " + line);
  }
  const auto look = [&](std::span<const std::string_view> columns, std::string_view table, auto decode) {
    Statement rows =
        impl_->connection.prepare(fmt::format("SELECT seq,{} FROM {}", fmt::join(columns, ","), table));
    while (rows.step()) {
      Row row = rows.row();
      const std::int64_t seq = std::get<std::int64_t>(row.front());
      row.erase(row.begin());
      if (!decode(row))
        findings.push_back(fmt::format("row {} of table {} is damaged: its checksum is wrong", seq, table));
    }
  };
  look(record_columns(), "trial", [](const Row& row) { return decode_record(row).has_value(); });
  look(verdict_columns(), "verdict", [](const Row& row) { return decode_verdict(row).has_value(); });
  return findings;
}

}  // namespace lehr
