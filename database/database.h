// The trial log: one SQLite file that serves resume, transfer, replay, report and export.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "database/columns.h"
#include "database/record.h"

namespace lehr {

/// Values that rows must have in these columns. An empty string allows any value.
struct RecordFilter {
  std::string workload = {};
  std::string device = {};
  std::string target = {};
  std::string family = {};
};

struct TaskStats {
  std::string workload, device;
  std::int64_t timed = 0;
  std::map<std::string, std::int64_t> failed;  ///< number of failures by kind
  double best_us = 0;                          ///< microseconds of the fastest trial; 0: no trial has a time
  std::int64_t first_unix_ms = 0, last_unix_ms = 0;
};
void describe(auto& field, const TaskStats& task) {
  field("workload", task.workload);
  field("device", task.device);
  field("timed", task.timed);
  field("failed", task.failed);
  field("best_us", task.best_us > 0 ? std::optional(task.best_us) : std::nullopt);
  field("first_unix_ms", task.first_unix_ms);
  field("last_unix_ms", task.last_unix_ms);
}
struct DatabaseStats {
  std::int64_t schema_version = 0;
  std::int64_t file_bytes = 0, records = 0, verdicts = 0, devices = 0, algorithms = 0, sessions = 0;
  std::map<std::string, std::int64_t>
      merged_sessions;  ///< number of `sessions` that were run elsewhere, by origins()
  std::vector<TaskStats> tasks;
};
void describe(auto& field, const DatabaseStats& stats) {
  field("schema_version", stats.schema_version);
  field("file_bytes", stats.file_bytes);
  field("records", stats.records);
  field("verdicts", stats.verdicts);
  field("devices", stats.devices);
  field("algorithms", stats.algorithms);
  field("sessions", stats.sessions);
  field("merged_sessions", stats.merged_sessions);
  field("tasks", stats.tasks);
}

/// Counts of rows that were to be added, by result.
struct RowCounts {
  std::int64_t added = 0;
  std::int64_t present = 0;      ///< in the log already, with the same content
  std::int64_t conflicting = 0;  ///< left out, because the log has other content under the same id
  std::int64_t refused = 0;      ///< left out, because the row is damaged
};
void describe(auto& field, const RowCounts& rows) {
  field("added", rows.added);
  field("present", rows.present);
  field("conflicting", rows.conflicting);
  field("damaged", rows.refused);
}
struct AddedRows {
  RowCounts trials, verdicts, devices, origins, algorithms;
  /// Returns the number of damaged rows of all tables.
  std::int64_t refused() const {
    return trials.refused + verdicts.refused + devices.refused + origins.refused + algorithms.refused;
  }
};
void describe(auto& field, const AddedRows& rows) {
  field("trials", rows.trials);
  field("verdicts", rows.verdicts);
  field("devices", rows.devices);
  field("origins", rows.origins);
  field("algorithms", rows.algorithms);
}
/// How the rows of another log are treated: as evidence from another user, or as if they were measured here
/// (for logs of one's own).
enum class Trust { kEvidence, kAsRunHere };

struct DamagedRow {
  std::string table;
  /// Position of the row in the table, counted from 1 in the order of appending.
  std::int64_t seq = 0;
  /// The row's id as far as it can be read. For a verdict it is the id of the winner, for a device its
  /// identity, for an algorithm its workload.
  std::string id;
  /// For example "its checksum is wrong".
  std::string problem;
};
void describe(auto& field, const DamagedRow& row) {
  field("table", row.table);
  field("seq", row.seq);
  field("id", row.id);
  field("problem", row.problem);
}
struct Verification {
  std::int64_t records = 0, verdicts = 0, devices = 0, origins = 0,
               algorithms = 0;      ///< number of rows read, damaged ones included
  std::int64_t without_device = 0;  ///< number of sound trials whose device has no sound row in the log
  std::vector<DamagedRow> damaged;
  std::vector<std::string> structure;  ///< SQLite's description of what is wrong with the file as a whole
  bool sound() const { return damaged.empty() && structure.empty(); }
};
void describe(auto& field, const Verification& found) {
  field("sound", found.sound());
  field("records", found.records);
  field("verdicts", found.verdicts);
  field("devices", found.devices);
  field("origins", found.origins);
  field("algorithms", found.algorithms);
  field("without_device", found.without_device);
  field("damaged", found.damaged);
  field("structure", found.structure);
}

/// Returns milliseconds since 1970 by the system's clock. Rows store times in this unit.
std::int64_t now_unix_ms();

/// One open log. Not thread-safe; several processes may have the same file open (WAL).
class Database {
 public:
  /// Opens or creates a log. ":memory:" is for tests. Throws Error(kUser) if the file is not a Lehr database,
  /// if it has another schema version (the text names both), or if its tables are not exactly ours. Throws
  /// Error(kDamaged), changing nothing, if SQLite would overwrite the rows that follow a damaged frame of the
  /// "-wal" file. Throws Error(kEnvironment) if the file cannot be written, the disk is full, or the file is
  /// on a network file system.
  static Database open(const std::filesystem::path& path);
  /// Opens a log as open() does, but throws Error(kUser) if the file does not exist, and never writes to it.
  static Database open_read_only(const std::filesystem::path& path);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  /// Returns the absolute path; "" for ":memory:".
  std::string path() const;
  /// Throws Error(kEnvironment) if the file was removed, renamed or replaced since it was opened. Before
  /// that, it saves all rows, old and new, to a new file in the same folder. The error's text names the new
  /// file. append() makes the same check.
  void expect_in_place() const;
  /// Writes the committed content to `file`, as a log that can be read without helper files next to it.
  /// Replaces an existing file. Other processes may write to this log meanwhile. Throws Error(kEnvironment).
  void copy_to(const std::filesystem::path& file) const;

  /// Appends a record, which is durable on return. Sets id and created_unix_ms if they are empty, and returns
  /// the record with them. If a record with the same id exists, it stays as it is; if its content differs,
  /// throws Error(kUser).
  Record append(const Record& record);
  /// Appends a verdict. If created_unix_ms is 0, the database sets it.
  void append(const StoredVerdict& verdict);
  /// Appends a device. Returns the device's hash, which is Record::device_hash of its trials. If the device
  /// exists already, its row stays as it is.
  std::uint64_t append(const StoredDevice& device);
  /// Appends an algorithm. If created_unix_ms is 0, the database sets it.
  void append(const StoredAlgorithm& algorithm);
  /// Appends those records, verdicts, devices and algorithms of the logs in files `others` that are not in
  /// this log yet: all of them or none. Only one of the files is open at a time. With Trust::kEvidence the
  /// files become the origins of their sessions (StoredOrigin). Merging twice changes nothing. After each log
  /// `on_merged` is called with the number of merged logs and the rows that this log has added. Returns one
  /// entry for each log. Throws the errors of open_read_only(), and Error(kUser) if one of `others` is this
  /// log.
  std::vector<AddedRows> merge(
      const std::vector<std::filesystem::path>& others, Trust trust = Trust::kEvidence,
      const std::function<void(std::size_t done, const AddedRows& rows)>& on_merged = {});
  /// Appends rows that have the columns of a table (columns.h), all of them or none. `next` returns false
  /// when there are no more rows.
  AddedRows add_rows(const std::function<bool(const LogTable*& table, sqlite::Row& row)>& next);
  /// Returns the fastest timing that matches the filter; among equally fast timings the oldest. Returns
  /// nullopt if none matches. Skips damaged rows. Costs one index seek per group (workload, device, target,
  /// family) of the filter's workload, or of all workloads if the filter names none.
  std::optional<Record> best(const RecordFilter& filter) const;
  /// Returns each (workload, device, target) that has rows, ordered by these texts. Costs as much as best().
  std::vector<RecordFilter> tasks(const RecordFilter& filter) const;
  /// Returns the number of rows with a time. Does not check the rows' checksums.
  std::int64_t timed(const RecordFilter& filter) const;
  /// Returns rows in order of creation. Leaves out damaged rows.
  std::vector<Record> all(const RecordFilter& filter) const;
  /// Returns the newest verdict per (workload, device) that matches workload, device and target of the
  /// filter. Leaves out the verdicts of sessions that were run elsewhere (origins()).
  std::vector<StoredVerdict> verdicts(const RecordFilter& filter) const;
  /// Returns all devices that trials may name. The key is Record::device_hash. Leaves out damaged rows, and
  /// devices of targets that this version does not know.
  std::map<std::uint64_t, StoredDevice> devices() const;
  /// Returns the newest algorithm for each version of a library, baseline and list, for the workload on the
  /// device. Leaves out sessions that were run elsewhere (origins()).
  std::vector<StoredAlgorithm> algorithms(const std::string& workload, const std::string& device) const;
  /// Returns, for each session that was not run here, the name of the file that its rows came from. Leaves
  /// out damaged rows.
  std::map<std::string, std::string> origins() const;
  /// Counts rows. Does not check their checksums, as verify() does. `best_us` is the time of best().
  DatabaseStats stats() const;
  /// Returns the record with this id; nullopt if it does not exist or is damaged.
  std::optional<Record> find(const std::string& id) const;
  /// Reads the whole file and reports what is wrong with it.
  Verification verify() const;

  struct Impl;  ///< private to database/ (impl.h)

 private:
  explicit Database(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lehr
