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

/// What a row is asked by. Empty strings mean "any".
struct RecordFilter {
  std::string workload = {};
  std::string device = {};
  std::string target = {};
  std::string family = {};
};

struct TaskStats {
  std::string workload, device;
  std::int64_t timed = 0;
  std::map<std::string, std::int64_t> failed;  ///< by kind
  double best_us = 0;                          ///< 0 = nothing timed
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
      merged_sessions;  ///< of `sessions` those that were run elsewhere, by origins()
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

/// What became of the rows that were to be added.
struct RowCounts {
  std::int64_t added = 0;
  std::int64_t present = 0;      ///< were there already, with the same content
  std::int64_t conflicting = 0;  ///< another content under an id that is there: left out
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
  /// Damaged rows of all tables.
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
/// What rows of another log are: somebody else's evidence, or as good as measured here (a log of one's own).
enum class Trust { kEvidence, kAsRunHere };

struct DamagedRow {
  std::string table;
  /// 1 is the first row that was appended to the table.
  std::int64_t seq = 0;
  /// As far as it can be read; a verdict's is that of its winner, a device's its identity, an algorithm's its
  /// workload.
  std::string id;
  /// "its checksum is wrong".
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
  std::int64_t without_device = 0;  ///< sound trials that name a device which the log has no sound row of
  std::vector<DamagedRow> damaged;
  std::vector<std::string> structure;  ///< SQLite's words on what is wrong with the file as a whole
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

/// Milliseconds since 1970 by the system's clock, as rows have them.
std::int64_t now_unix_ms();

/// One open log. Not thread-safe; several processes may have the same file open (WAL).
class Database {
 public:
  /// Opens or creates. ":memory:" for tests. Throws Error(kUser) for a file that is no Lehr database, is one
  /// of another schema version (naming both), or whose tables are not exactly ours, Error(kDamaged), changing
  /// nothing, where SQLite would write over rows behind a damaged frame of its "-wal", Error(kEnvironment)
  /// for one that cannot be written, a full disk, or a network file system.
  static Database open(const std::filesystem::path& path);
  /// Like open, but throws Error(kUser) if the file does not exist and never writes to it.
  static Database open_read_only(const std::filesystem::path& path);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  /// Absolute; "" for ":memory:".
  std::string path() const;
  /// Throws Error(kEnvironment) where the file was removed, renamed or replaced since it was opened: all rows
  /// that it had and that were written since are saved to a new file beside it first, which the sentence
  /// names. append() asks too.
  void expect_in_place() const;
  /// Writes what is committed to a new file, a log that can be read without helper files beside it; one that
  /// is there is replaced. Other processes may write to this log meanwhile. Throws Error(kEnvironment).
  void copy_to(const std::filesystem::path& file) const;

  /// Durable on return; fills in id and created_unix_ms, which are also returned in the result. A record
  /// whose id is already there, with the same content, is left as it is; Error(kUser) if the content differs.
  Record append(const Record& record);
  /// created_unix_ms is given by the database when 0.
  void append(const StoredVerdict& verdict);
  /// Returns Record::device_hash of its trials. One that is already there is left as it is.
  std::uint64_t append(const StoredDevice& device);
  /// created_unix_ms is given by the database when 0.
  void append(const StoredAlgorithm& algorithm);
  /// Appends the records, verdicts, devices and algorithms of the logs in files `others` that are not here
  /// yet, all of them or none; one of the files is open at a time. Their sessions are noted as theirs
  /// (StoredOrigin), unless they are trusted. Running it twice changes nothing. Tells `on_merged` after each
  /// log how many are done and what this one added. Returns one entry for each. Throws what open_read_only
  /// throws, and Error(kUser) where one of them is this log.
  std::vector<AddedRows> merge(
      const std::vector<std::filesystem::path>& others, Trust trust = Trust::kEvidence,
      const std::function<void(std::size_t done, const AddedRows& rows)>& on_merged = {});
  /// Appends rows of a table's columns (columns.h), all of them or none. `next` gives false at the end.
  AddedRows add_rows(const std::function<bool(const LogTable*& table, sqlite::Row& row)>& next);
  /// Fastest timing that matches, the older one of equals; nullopt if none. Damaged rows are passed over.
  /// Costs one index seek per (workload, device, target, family) of the matching workload (of all workloads
  /// if it is empty).
  std::optional<Record> best(const RecordFilter& filter) const;
  /// The (workload, device, target) that there are rows of, in order of these texts. Costs as best().
  std::vector<RecordFilter> tasks(const RecordFilter& filter) const;
  /// How many rows have a time, without a look at their checksums.
  std::int64_t timed(const RecordFilter& filter) const;
  /// In order of creation. Damaged rows are left out.
  std::vector<Record> all(const RecordFilter& filter) const;
  /// The newest verdict per (workload, device) that matches workload, device and target of the filter. Those
  /// of sessions that were run elsewhere (origins()) are left out: they are what somebody else says.
  std::vector<StoredVerdict> verdicts(const RecordFilter& filter) const;
  /// All devices that trials may name, by Record::device_hash. Left out are damaged rows, and rows of targets
  /// that this version does not know.
  std::map<std::uint64_t, StoredDevice> devices() const;
  /// The newest of each library's version, baseline and list for the workload on the device. Those of
  /// sessions that were run elsewhere (origins()) are left out.
  std::vector<StoredAlgorithm> algorithms(const std::string& workload, const std::string& device) const;
  /// Tells of each session that was not run here which file brought it. Damaged rows are left out.
  std::map<std::string, std::string> origins() const;
  /// Counts rows without looking at their checksums, which verify() does; `best_us` is best()'s.
  DatabaseStats stats() const;
  /// The record with this id; nullopt if there is none or it is damaged.
  std::optional<Record> find(const std::string& id) const;
  /// Reads the whole file and says what is wrong with it.
  Verification verify() const;

  struct Impl;  ///< private to database/ (impl.h)

 private:
  explicit Database(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lehr
