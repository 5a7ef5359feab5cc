#include "database/schema.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"

namespace lehr {
namespace {

// STRICT keeps the types honest; `seq` is the order of appending. The one index answers every question that
// best() can be asked, see best_in_groups() in database.cpp.
constexpr std::string_view kVersion1 = R"sql(
CREATE TABLE trial (
  seq              INTEGER PRIMARY KEY,
  id               TEXT NOT NULL UNIQUE,
  workload         TEXT NOT NULL,
  device           TEXT NOT NULL,
  target           TEXT NOT NULL,
  arch             TEXT NOT NULL,
  family           TEXT NOT NULL,
  config           TEXT NOT NULL,
  template_version INTEGER NOT NULL,
  outcome          TEXT NOT NULL,
  time_us          REAL,
  samples_us       TEXT,
  spread           REAL,
  reference_us     REAL,
  max_error        REAL,
  run_s            REAL,
  failure          TEXT,
  registers        INTEGER,
  spill_bytes      INTEGER,
  shared_bytes     INTEGER,
  stack_bytes      INTEGER,
  compile_s        REAL NOT NULL,
  predicted        REAL,
  picked_by        TEXT NOT NULL,
  session          TEXT NOT NULL,
  seed             INTEGER NOT NULL,
  created_unix_ms  INTEGER NOT NULL,
  tool_version     TEXT NOT NULL,
  checksum         INTEGER NOT NULL
) STRICT;
CREATE INDEX trial_by_time ON trial (workload, device, target, family, time_us);
CREATE TABLE verdict (
  seq                 INTEGER PRIMARY KEY,
  workload            TEXT NOT NULL,
  device              TEXT NOT NULL,
  session             TEXT NOT NULL,
  record_id           TEXT NOT NULL,
  default_us          REAL NOT NULL,
  best_us             REAL NOT NULL,
  baseline            TEXT NOT NULL,
  baseline_us         REAL NOT NULL,
  speedup_vs_default  REAL NOT NULL,
  speedup_vs_baseline REAL NOT NULL,
  json                TEXT NOT NULL,
  created_unix_ms     INTEGER NOT NULL,
  checksum            INTEGER NOT NULL
) STRICT;
)sql";

// NULL in the rows that are there, whose checksums stay as they are (columns.cpp).
constexpr std::string_view kVersion2 = "ALTER TABLE trial ADD COLUMN advisories TEXT";

// A row of `device` never changes and is named by its checksum: trial.device_hash. What rows of before do not
// tell is NULL in them.
constexpr std::string_view kVersion3 = R"sql(
CREATE TABLE device (
  seq      INTEGER PRIMARY KEY,
  identity TEXT NOT NULL,
  name     TEXT NOT NULL,
  target   TEXT NOT NULL,
  arch     TEXT NOT NULL,
  facts    TEXT NOT NULL,
  driver   TEXT NOT NULL,
  compiler TEXT NOT NULL,
  os       TEXT NOT NULL,
  uuid     TEXT NOT NULL,
  cold     INTEGER NOT NULL,
  checksum INTEGER NOT NULL UNIQUE
) STRICT;
ALTER TABLE trial ADD COLUMN device_hash INTEGER;
ALTER TABLE trial ADD COLUMN source_hash INTEGER;
ALTER TABLE verdict ADD COLUMN default_us_low REAL;
ALTER TABLE verdict ADD COLUMN default_us_high REAL;
ALTER TABLE verdict ADD COLUMN best_us_low REAL;
ALTER TABLE verdict ADD COLUMN best_us_high REAL;
ALTER TABLE verdict ADD COLUMN speedup_vs_default_low REAL;
ALTER TABLE verdict ADD COLUMN speedup_vs_default_high REAL;
ALTER TABLE verdict ADD COLUMN speedup_vs_baseline_low REAL;
ALTER TABLE verdict ADD COLUMN speedup_vs_baseline_high REAL;
ALTER TABLE verdict ADD COLUMN deterministic INTEGER;
)sql";

// Sessions that are not in it were run here.
constexpr std::string_view kVersion4 = R"sql(
CREATE TABLE origin (
  seq            INTEGER PRIMARY KEY,
  session        TEXT NOT NULL UNIQUE,
  merged_from    TEXT NOT NULL,
  merged_unix_ms INTEGER NOT NULL,
  checksum       INTEGER NOT NULL
) STRICT;
)sql";

// A row of `way` never changes: a later search is another row.
constexpr std::string_view kVersion5 = R"sql(
CREATE TABLE way (
  seq             INTEGER PRIMARY KEY,
  workload        TEXT NOT NULL,
  device          TEXT NOT NULL,
  session         TEXT NOT NULL,
  baseline        TEXT NOT NULL,
  library         TEXT NOT NULL,
  list            INTEGER NOT NULL,
  way             INTEGER NOT NULL,
  mark            INTEGER NOT NULL,
  tried           INTEGER NOT NULL,
  offered         INTEGER NOT NULL,
  created_unix_ms INTEGER NOT NULL,
  checksum        INTEGER NOT NULL UNIQUE
) STRICT;
ALTER TABLE verdict ADD COLUMN ways_tried INTEGER;
ALTER TABLE verdict ADD COLUMN ways INTEGER;
)sql";

constexpr std::string_view kVersion6 = "ALTER TABLE verdict ADD COLUMN provisional INTEGER";

constexpr std::array<Migration, 6> kMigrations = {
    {{1, kVersion1}, {2, kVersion2}, {3, kVersion3}, {4, kVersion4}, {5, kVersion5}, {6, kVersion6}}};

// The three answers belong together only inside one transaction: another process may be creating the file.
int version_in_transaction(const sqlite::Connection& connection, std::span<const Migration> steps) {
  const std::int64_t owner = connection.query_int("PRAGMA application_id");
  const std::int64_t version = connection.query_int("PRAGMA user_version");
  if (owner != kApplicationId) {
    const bool empty =
        owner == 0 && version == 0 && connection.query_int("SELECT count(*) FROM sqlite_schema") == 0;
    if (empty) return 0;
    throw_user("'{}' is another program's SQLite file (application_id {:#x}; a Lehr database has {:#x})",
               connection.path(), static_cast<std::uint32_t>(owner), kApplicationId);
  }
  const int newest = steps.back().version;
  if (version < 0 || version > newest) {
    throw_user("'{}' has schema version {}, but this lehr knows versions up to {}; use a newer lehr",
               connection.path(), version, newest);
  }
  return static_cast<int>(version);
}

void apply(const sqlite::Connection& connection, const Migration& step) {
  connection.execute(std::string(step.sql));
  connection.execute(
      fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", kApplicationId, step.version));
}

// Tables and indexes as SQLite keeps them; what ANALYZE leaves there is nobody's.
std::vector<sqlite::Row> objects_of(const sqlite::Connection& connection) {
  std::vector<sqlite::Row> objects;
  sqlite::Statement rows = connection.prepare(
      "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE NOT (type='table' AND name IN "
      "('sqlite_stat1', 'sqlite_stat4')) ORDER BY name, type");
  while (rows.step()) objects.push_back(rows.row());
  return objects;
}

}  // namespace

std::span<const Migration> migrations() {
  return kMigrations;
}

int schema_version(const sqlite::Connection& connection, std::span<const Migration> steps) {
  const sqlite::Transaction transaction(connection, sqlite::Transaction::Access::kRead);
  return version_in_transaction(connection, steps);
}

void migrate(const sqlite::Connection& connection, std::span<const Migration> steps,
             const std::function<void(int)>& before) {
  if (schema_version(connection, steps) == steps.back().version) return;
  sqlite::Transaction transaction(connection);
  // Asked again: another process may have done it while this one waited for the lock.
  const int version = version_in_transaction(connection, steps);
  if (version == steps.back().version) return;
  if (version > 0 && before) before(version);
  for (const Migration& step : steps)
    if (step.version > version) apply(connection, step);
  transaction.commit();
}

int checked_version(const sqlite::Connection& connection, std::span<const Migration> steps) {
  const sqlite::Transaction transaction(connection, sqlite::Transaction::Access::kRead);
  const int version = version_in_transaction(connection, steps);
  const sqlite::Connection ours(":memory:", sqlite::Mode::kReadWrite);
  for (const Migration& step : steps)
    if (step.version <= version) apply(ours, step);
  const std::vector<sqlite::Row> wanted = objects_of(ours), got = objects_of(connection);
  if (got == wanted) return version;
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
      "'{}' has other tables than a Lehr database of version {} ('{}' differs) and is not used; lehr db "
      "salvage takes "
      "its sound rows to a new file",
      connection.path(), version, which);
}

}  // namespace lehr
