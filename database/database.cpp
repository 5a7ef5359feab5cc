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
#include <tuple>

#include "base/error.h"
#include "base/hash.h"
#include "database/file_system.h"
#include "database/impl.h"
#include "database/record_codec.h"
#include "database/save_copy.h"
#include "database/schema.h"
#include "database/sqlite.h"
#include "database/wal_file.h"

namespace lehr {
namespace {

using sqlite::Connection;
using sqlite::Row;
using sqlite::Statement;
using sqlite::Value;

// Returns 128 random bits from the operating system: unique, also across machines.
std::string random_id() {
  std::uint64_t words[2];
  if (::getentropy(words, sizeof words) != 0) {
    throw_environment("the operating system gives no random numbers: {}", std::strerror(errno));
  }
  return to_hex(words[0]) + to_hex(words[1]);
}

// A WHERE clause for those fields that are not empty.
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

// Returns the fastest undamaged row of one group, if it is faster than `bound_us`.
std::optional<Record> best_of_group(const Connection& connection, const Row& group, double bound_us) {
  Statement rows =
      connection.prepare(select_from(trial_table()) +
                         " INDEXED BY trial_by_time WHERE workload=? AND device=? AND target=? AND "
                         "family=? AND time_us>0 AND time_us<? ORDER BY time_us, seq");
  Row values = group;
  values.emplace_back(bound_us);
  rows.bind(values);
  while (rows.step()) {
    std::optional<Record> record = decode_record(rows.row());
    if (record && record->time_us()) return record;
  }
  return std::nullopt;
}

/// Calls `found` with (workload, device, target, family) of every group of rows that matches, in order. A
/// group's rows are consecutive in the index. Each group is found by a seek to the position after the group
/// before. So the cost grows with the number of groups and not with the number of rows, whichever fields the
/// filter leaves open.
void for_each_group(const Connection& connection, const RecordFilter& filter,
                    const std::function<void(const Row& group)>& found) {
  Statement next = connection.prepare(
      "SELECT workload, device, target, family FROM trial INDEXED BY trial_by_time"
      " WHERE (workload, device, target, family, time_us) > (?,?,?,?,?)"
      " ORDER BY workload, device, target, family LIMIT 1");
  // SQLite seeks a row value with >=, and would then step over equal values. No time is infinite, so there
  // are no equal values.
  constexpr double kBehindTheGroup = std::numeric_limits<double>::infinity();
  bool begun = false;
  Row group = {filter.workload, std::string(), std::string(), std::string()};  // no family is empty
  for (;;) {
    Row from = group;
    from.emplace_back(kBehindTheGroup);
    next.bind(from);
    if (!next.step()) return;
    Row there = next.row();
    // Groups must ascend, because the walk through a damaged index might never end otherwise.
    if (std::ranges::any_of(there,
                            [](const Value& value) { return !std::holds_alternative<std::string>(value); }) ||
        (begun && there <= group)) {
      throw_environment(
          "the index of the database '{}' is damaged; lehr db salvage writes what is left to a new file",
          connection.path());
    }
    begun = true;
    group = std::move(there);
    const auto text = [&group](std::size_t i) { return std::get<std::string>(group[i]); };
    if (!matches(filter.workload, text(0))) return;
    if (matches(filter.device, text(1)) && matches(filter.target, text(2)) && matches(filter.family, text(3)))
      found(group);
  }
}

void check_named(const std::filesystem::path& path) {
  if (path.empty()) throw_user("the log has no name: name its file, such as lehr.db");
}

}  // namespace

std::int64_t now_unix_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

bool Database::Impl::insert(const LogTable& table, const Row& row) {
  auto insert = inserts.find(&table);
  if (insert == inserts.end()) {
    if (connection.read_only())
      throw_environment("the database '{}' cannot be written: it was opened read-only", connection.path());
    insert = inserts.emplace(&table, connection.prepare(insert_into(table))).first;
  }
  Statement& statement = insert->second;
  statement.bind(row);
  statement.step();  // also commits
  const bool is_new = connection.changes() > 0;
  expect_in_place();
  return is_new;
}

void Database::Impl::expect_in_place() const {
  if (!connection.has_moved()) return;
  const std::string path = connection.path();
  const std::string saved = save_copy(connection, path + ".rescued");
  throw_environment(
      "the log '{}' was removed, renamed or replaced while rows were written to it; all of its rows, those "
      "of this run "
      "too, are in '{}'",
      path, saved);
}

Database::Database(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Database Database::open(const std::filesystem::path& path) {
  check_named(path);
  const bool in_memory = path == ":memory:";
  if (!in_memory) check_place(path);
  // Checked before SQLite takes the first damaged frame for the end and overwrites the frames after it.
  if (const std::string damage = in_memory ? "" : damage_of_wal(path); !damage.empty())
    throw_damaged("{}; nothing was changed: `lehr db salvage {} NEW.db` brings what is left to a new log",
                  damage, path.string());
  Connection connection(path, sqlite::Mode::kReadWrite);
  const bool made = is_log(connection);  // called before anything is written to the file
  if (connection.read_only()) {
    throw_environment("the database '{}' cannot be written: the file or its directory is read-only",
                      connection.path());
  }
  if (!in_memory) connection.use_durable_log();
  if (!made) make_log(connection);
  return Database(std::make_unique<Impl>(std::move(connection)));
}

Database Database::open_read_only(const std::filesystem::path& path) {
  check_named(path);
  const sqlite::Mode mode = read_only_mode(path);
  Connection connection(path, mode);
  if (!is_log(connection)) {
    const std::string damage = damage_of_wal(path);
    if (!damage.empty())
      throw_damaged("{}; `lehr db salvage {} NEW.db` brings what is left to a new log", damage,
                    path.string());
    throw_user("'{}' is empty: no Lehr database was made in it yet", path.string());
  }
  return Database(std::make_unique<Impl>(std::move(connection)));
}

void Database::expect_in_place() const {
  impl_->expect_in_place();
}

void Database::copy_to(const std::filesystem::path& file) const {
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  const Connection copy(file, sqlite::Mode::kReadWrite);
  impl_->connection.copy_to(copy);
  copy.execute("PRAGMA journal_mode=DELETE");
}

std::string Database::path() const {
  return impl_->connection.path();
}

Record Database::append(const Record& record) {
  Record stored = record;
  if (stored.id.empty()) stored.id = random_id();
  if (stored.created_unix_ms == 0) stored.created_unix_ms = now_unix_ms();
  if (impl_->insert(trial_table(), encode(stored))) return stored;
  std::optional<Record> present = find(stored.id);
  if (present && record.created_unix_ms == 0) stored.created_unix_ms = present->created_unix_ms;
  if (!present || encode(*present) != encode(stored)) {
    throw_user("the database '{}' already has another record with the id {}", impl_->connection.path(),
               stored.id);
  }
  return stored;
}

void Database::append(const StoredVerdict& verdict) {
  StoredVerdict stored = verdict;
  if (stored.created_unix_ms == 0) stored.created_unix_ms = now_unix_ms();
  impl_->insert(verdict_table(), encode(stored));
}

std::uint64_t Database::append(const StoredDevice& device) {
  const Row row = encode(device);
  impl_->insert(device_table(), row);
  return std::bit_cast<std::uint64_t>(std::get<std::int64_t>(row.back()));
}

void Database::append(const StoredAlgorithm& algorithm) {
  StoredAlgorithm stored = algorithm;
  if (stored.created_unix_ms == 0) stored.created_unix_ms = now_unix_ms();
  impl_->insert(algorithm_table(), encode(stored));
}

std::vector<StoredAlgorithm> Database::algorithms(const std::string& workload,
                                                  const std::string& device) const {
  Where where;
  where.require("workload=?", workload);
  where.require("device=?", device);
  Statement rows = impl_->connection.prepare(select_from(algorithm_table()) + where.sql + " ORDER BY seq");
  rows.bind(where.values);
  const std::map<std::string, std::string> merged = origins();
  std::map<std::tuple<std::string, std::string, std::int64_t>, StoredAlgorithm> newest;
  while (rows.step()) {
    std::optional<StoredAlgorithm> algorithm = decode_algorithm(rows.row());
    if (algorithm && !merged.contains(algorithm->session))
      newest.insert_or_assign({algorithm->library, algorithm->baseline, algorithm->list}, *algorithm);
  }
  std::vector<StoredAlgorithm> algorithms;
  for (auto& [key, algorithm] : newest) algorithms.push_back(std::move(algorithm));
  return algorithms;
}

std::map<std::uint64_t, StoredDevice> Database::devices() const {
  Statement rows = impl_->connection.prepare(select_from(device_table()));
  std::map<std::uint64_t, StoredDevice> devices;
  while (rows.step()) {
    const Row row = rows.row();
    if (std::optional<StoredDevice> device = decode_device(row))
      devices.emplace(std::bit_cast<std::uint64_t>(std::get<std::int64_t>(row.back())), std::move(*device));
  }
  return devices;
}

std::map<std::string, std::string> Database::origins() const {
  Statement rows = impl_->connection.prepare(select_from(origin_table()));
  std::map<std::string, std::string> origins;
  while (rows.step())
    if (std::optional<StoredOrigin> origin = decode_origin(rows.row()))
      origins.emplace(std::move(origin->session), std::move(origin->merged_from));
  return origins;
}

std::optional<Record> Database::best(const RecordFilter& filter) const {
  std::optional<Record> best;
  double best_us = std::numeric_limits<double>::infinity();
  for_each_group(impl_->connection, filter, [&](const Row& group) {
    std::optional<Record> record = best_of_group(impl_->connection, group, best_us);
    if (!record) return;
    best_us = *record->time_us();
    best = std::move(record);
  });
  return best;
}

std::vector<RecordFilter> Database::tasks(const RecordFilter& filter) const {
  std::vector<RecordFilter> tasks;
  for_each_group(impl_->connection, filter, [&](const Row& group) {
    const auto text = [&group](std::size_t i) { return std::get<std::string>(group[i]); };
    if (!tasks.empty() && tasks.back().workload == text(0) && tasks.back().device == text(1) &&
        tasks.back().target == text(2))
      return;
    tasks.push_back({text(0), text(1), text(2), ""});
  });
  return tasks;
}

std::int64_t Database::timed(const RecordFilter& filter) const {
  Where where = where_record(filter);
  Statement count = impl_->connection.prepare("SELECT count(time_us) FROM trial" + where.sql);
  count.bind(where.values);
  return count.step() ? count.get<std::int64_t>(0) : 0;
}

std::vector<Record> Database::all(const RecordFilter& filter) const {
  const Where where = where_record(filter);
  Statement rows = impl_->connection.prepare(select_from(trial_table()) + where.sql + " ORDER BY seq");
  rows.bind(where.values);
  std::vector<Record> records;
  while (rows.step()) {
    if (std::optional<Record> record = decode_record(rows.row())) records.push_back(std::move(*record));
  }
  return records;
}

std::vector<StoredVerdict> Database::verdicts(const RecordFilter& filter) const {
  Where where;
  where.require("workload=?", filter.workload);
  where.require("device=?", filter.device);
  where.require("EXISTS (SELECT 1 FROM trial WHERE trial.id=record_id AND trial.target=?)", filter.target);
  Statement rows = impl_->connection.prepare(select_from(verdict_table()) + where.sql + " ORDER BY seq DESC");
  rows.bind(where.values);
  std::vector<StoredVerdict> newest;
  std::set<std::pair<std::string, std::string>> seen;
  const std::map<std::string, std::string> merged = origins();
  while (rows.step()) {
    std::optional<StoredVerdict> verdict = decode_verdict(rows.row());
    if (verdict && !merged.contains(verdict->session) &&
        seen.emplace(verdict->workload, verdict->device).second)
      newest.push_back(std::move(*verdict));
  }
  std::reverse(newest.begin(), newest.end());
  return newest;
}

std::optional<Record> Database::find(const std::string& id) const {
  Statement row = impl_->connection.prepare(select_from(trial_table()) + " WHERE id=?");
  const Value wanted = id;
  row.bind({&wanted, 1});
  return row.step() ? decode_record(row.row()) : std::nullopt;
}

}  // namespace lehr
