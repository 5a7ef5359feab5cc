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

/// Fields that rows must match. Empty strings match all.
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
  double best_us = 0;                          ///< 0: no time yet
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
  std::int64_t conflicting = 0;  ///< the log has other content under the same id: left out
  std::int64_t refused = 0;      ///< damaged: left out
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
/// How the rows of another log are treated: as somebody else's evidence, or as if measured here (a log of
/// one's own).
enum class Trust { kEvidence, kAsRunHere };

struct DamagedRow {
  std::string table;
  /// 1 is the first row that was appended to the table.
  std::int64_t seq = 0;
  /// The row's id as far as it can be read. For a verdict, the id of its winner; for a device, its identity;
  /// for an algorithm, its workload.
  std::string id;
  /// E.g. "its checksum is wrong".
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
               algorithms = 0;      ///< rows that were looked at, damaged ones included
  std::int64_t without_device = 0;  ///< sound trials whose device has no sound row in the log
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

/// Returns milliseconds since 1970 by the system's clock, the unit of the rows' times.
std::int64_t now_unix_ms();

/// One open log. Not thread-safe; several processes may have the same file open (WAL).
class Database {
 public:
  /// Opens or creates. ":memory:" for tests. Throws Error(kUser) if the file is not a Lehr database, is one
  /// of another schema version (naming both), or its tables are not exactly ours. Throws Error(kDamaged),
  /// changing nothing, if SQLite would write over rows behind a damaged frame of its "-wal". Throws
  /// Error(kEnvironment) if it cannot be written, the disk is full, or it is on a network file system.
  static Database open(const std::filesystem::path& path);
  /// Opens like open, but throws Error(kUser) if the file does not exist, and never writes to it.
  static Database open_read_only(const std::filesystem::path& path);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  /// Returns the absolute path; "" for ":memory:".
  std::string path() const;
  /// Throws Error(kEnvironment) if the file was removed, renamed or replaced since it was opened. First saves
  /// all rows, old and new, to a new file beside it, which the sentence names. append() checks this too.
  void expect_in_place() const;
  /// Writes the committed content to a new file: a log that can be read without helper files beside it.
  /// Replaces an existing file. Other processes may write to this log meanwhile. Throws Error(kEnvironment).
  void copy_to(const std::filesystem::path& file) const;

  /// Appends a record, durable on return. Fills in id and created_unix_ms, which are also in the result. A
  /// record whose id is already there is left as it is if the content is the same; throws Error(kUser) if it
  /// differs.
  Record append(const Record& record);
  /// Appends a verdict. The database sets created_unix_ms if it is 0.
  void append(const StoredVerdict& verdict);
  /// Appends a device. Returns Record::device_hash of its trials. A device that is already there is left as
  /// it is.
  std::uint64_t append(const StoredDevice& device);
  /// Appends an algorithm. The database sets created_unix_ms if it is 0.
  void append(const StoredAlgorithm& algorithm);
  /// Appends the records, verdicts, devices and algorithms of the logs in files `others` that are not here
  /// yet: all of them or none. One of the files is open at a time. Their sessions get these files as their
  /// origins (StoredOrigin), unless they are trusted. Running it twice changes nothing. After each log
  /// `on_merged` gets the number of merged logs and the rows that this one added. Returns one entry for each
  /// log. Throws the errors of open_read_only, and Error(kUser) if one of them is this log.
  std::vector<AddedRows> merge(
      const std::vector<std::filesystem::path>& others, Trust trust = Trust::kEvidence,
      const std::function<void(std::size_t done, const AddedRows& rows)>& on_merged = {});
  /// Appends rows of a table's columns (columns.h), all of them or none. `next` returns false at the end.
  AddedRows add_rows(const std::function<bool(const LogTable*& table, sqlite::Row& row)>& next);
  /// Returns the fastest timing that matches, the older one of equals; nullopt if none matches. Passes over
  /// damaged rows. Costs one index seek per (workload, device, target, family) of the matching workload (of
  /// all workloads if it is empty).
  std::optional<Record> best(const RecordFilter& filter) const;
  /// Returns each (workload, device, target) that has rows, in order of these texts. Costs as best().
  std::vector<RecordFilter> tasks(const RecordFilter& filter) const;
  /// Returns how many rows have a time. Does not check their checksums.
  std::int64_t timed(const RecordFilter& filter) const;
  /// Returns rows in order of creation. Leaves out damaged ones.
  std::vector<Record> all(const RecordFilter& filter) const;
  /// Returns the newest verdict per (workload, device) that matches workload, device and target of the
  /// filter. Leaves out sessions that were run elsewhere (origins()): their verdicts are somebody else's.
  std::vector<StoredVerdict> verdicts(const RecordFilter& filter) const;
  /// Returns all devices that trials may name, by Record::device_hash. Leaves out damaged rows, and rows of
  /// targets that this version does not know.
  std::map<std::uint64_t, StoredDevice> devices() const;
  /// Returns the newest algorithm of each library's version, baseline and list for the workload on the
  /// device. Leaves out sessions that were run elsewhere (origins()).
  std::vector<StoredAlgorithm> algorithms(const std::string& workload, const std::string& device) const;
  /// Returns, for each session that was not run here, the file that brought it. Leaves out damaged rows.
  std::map<std::string, std::string> origins() const;
  /// Counts rows without checking their checksums (verify() does). `best_us` is best()'s.
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
