#include "database/schema.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "database/columns.h"

namespace lehr {
namespace {

// Returns the statement that creates a table. STRICT enforces the types. `seq` is the order in which rows
// were appended.
std::string create_table(const LogTable& table) {
  std::string sql = fmt::format("CREATE TABLE {} (seq INTEGER PRIMARY KEY", table.name);
  for (const Column& column : table.columns) {
    const char* const type = column.type == ColumnType::kText      ? "TEXT"
                             : column.type == ColumnType::kInteger ? "INTEGER"
                                                                   : "REAL";
    sql += fmt::format(",\n  {} {}{}{}", column.name, type, column.nullable ? "" : " NOT NULL",
                       column.name == table.unique ? " UNIQUE" : "");
  }
  return sql + ") STRICT;\n";
}

void create_all(const sqlite::Connection& connection) {
  for (const LogTable* table : log_tables()) connection.execute(create_table(*table));
  // This index serves every query of best(); see for_each_group() in database.cpp.
  connection.execute("CREATE INDEX trial_by_time ON trial (workload, device, target, family, time_us)");
  connection.execute(
      fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", kApplicationId, kSchemaVersion));
}

// Must be called inside a transaction, because another process may be creating the file.
bool is_ours(const sqlite::Connection& connection) {
  const std::int64_t owner = connection.query_int("PRAGMA application_id");
  const std::int64_t version = connection.query_int("PRAGMA user_version");
  if (owner != kApplicationId) {
    if (owner == 0 && version == 0 && connection.query_int("SELECT count(*) FROM sqlite_schema") == 0)
      return false;
    throw_user("'{}' is another program's SQLite file (application_id {:#x}; a Lehr database has {:#x})",
               connection.path(), static_cast<std::uint32_t>(owner), kApplicationId);
  }
  if (version != kSchemaVersion) throw_other_version(connection.path(), version);
  return true;
}

// Returns tables and indexes as SQLite stores them, except for the tables of ANALYZE.
std::vector<sqlite::Row> objects_of(const sqlite::Connection& connection) {
  std::vector<sqlite::Row> objects;
  sqlite::Statement rows = connection.prepare(
      "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE NOT (type='table' AND name IN "
      "('sqlite_stat1', 'sqlite_stat4')) ORDER BY name, type");
  while (rows.step()) objects.push_back(rows.row());
  return objects;
}

}  // namespace

void throw_other_version(const std::string& path, std::int64_t version) {
  throw_user(
      "'{}' has schema version {}, and this lehr reads and writes version {} alone; name another file, or "
      "use "
      "the lehr that made it",
      path, version, kSchemaVersion);
}

bool is_log(const sqlite::Connection& connection) {
  const sqlite::Transaction transaction(connection, sqlite::Transaction::Access::kRead);
  if (!is_ours(connection)) return false;
  const sqlite::Connection ours(":memory:", sqlite::Mode::kReadWrite);
  create_all(ours);
  const std::vector<sqlite::Row> wanted = objects_of(ours), got = objects_of(connection);
  if (got == wanted) return true;
  const auto name = [](const sqlite::Row& object) {
    const auto* text = std::get_if<std::string>(&object[1]);
    return text ? *text : "?";
  };
  std::string which;
  for (const sqlite::Row& object : got)
    if (which.empty() && std::ranges::find(wanted, object) == wanted.end()) which = name(object);
  for (const sqlite::Row& object : wanted)
    if (which.empty() && std::ranges::find(got, object) == got.end()) which = name(object);
  throw_user(
      "'{}' has other tables than a Lehr database ('{}' differs) and is not used; lehr db salvage takes its "
      "sound rows to a new file",
      connection.path(), which);
}

void make_log(const sqlite::Connection& connection) {
  sqlite::Transaction transaction(connection);
  if (is_ours(connection)) return;
  create_all(connection);
  transaction.commit();
}

}  // namespace lehr
