// The trial log: one SQLite file that serves resume, transfer, replay, report and export.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "database/record.h"

namespace lehr {

/// What a row is asked by. Empty strings mean "any".
struct RecordFilter {
  std::string workload;
  std::string device;
  std::string target;
  std::string family;
};

/// A finished contest of a task: what `best` shows beside the winner.
struct Verdict {
  std::string workload;
  std::string device;
  std::string session;
  std::string record_id;               ///< the winner
  double default_us = 0, best_us = 0;  ///< interleaved medians
  std::string baseline;                ///< fastest baseline's name; "" = none at hand
  double baseline_us = 0;
  double speedup_vs_default = 0;   ///< medians of per-round ratios
  double speedup_vs_baseline = 0;  ///< 0 = no baseline
  std::string json;                ///< the whole document that `tune --json` printed
  std::int64_t created_unix_ms = 0;
};

struct TaskStats {
  std::string workload, device;
  std::int64_t timed = 0;
  std::vector<std::pair<std::string, std::int64_t>> failed;  ///< by kind
  double best_us = 0;                                        ///< 0 = nothing timed
  std::int64_t first_unix_ms = 0, last_unix_ms = 0;
};
struct DatabaseStats {
  int schema_version = 0;
  std::int64_t file_bytes = 0, records = 0, damaged = 0, sessions = 0;
  std::vector<TaskStats> tasks;
};

/// One open log. Not thread-safe; several processes may have the same file open (WAL).
class Database {
 public:
  /// Opens or creates. ":memory:" for tests. Throws Error(kUser) for a file that is no Lehr database or has a
  /// newer schema (saying which version it has and which we know), Error(kEnvironment) for one that cannot be
  /// written, a full disk, or a network file system.
  static Database open(const std::filesystem::path& path);
  /// Like open, but throws Error(kUser) if the file does not exist and never writes to it.
  static Database open_read_only(const std::filesystem::path& path);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  /// Durable on return; fills in id and created_unix_ms, which are also returned in the result. A record
  /// whose id is already there, with the same content, is left as it is; Error(kUser) if the content differs.
  Record append(const Record& record);
  /// created_unix_ms is given by the database when 0.
  void append(const Verdict& verdict);
  /// Appends the records and verdicts of `other` that are not here yet, all or nothing, and leaves out
  /// damaged ones. Running it twice changes nothing. Returns the number of records that were added.
  std::int64_t merge(const Database& other);
  /// Fastest timing that matches, the older one of equals; nullopt if none. Damaged rows are passed over.
  /// Costs one index seek per (workload, device, target, family) of the matching workload (of all workloads
  /// if it is empty).
  std::optional<Record> best(const RecordFilter& filter) const;
  /// In order of creation. Rows whose checksum is wrong are left out (stats() counts them).
  std::vector<Record> all(const RecordFilter& filter) const;
  /// The newest verdict per (workload, device) that matches workload, device and target of the filter.
  std::vector<Verdict> verdicts(const RecordFilter& filter) const;
  DatabaseStats stats() const;
  /// The record with this id; nullopt if there is none or it is damaged.
  std::optional<Record> find(const std::string& id) const;
  /// Session ids and the number of their trials, in order of their first trial.
  std::vector<std::pair<std::string, std::int64_t>> sessions() const;
  /// Reads the whole file and says what is wrong with it, one sentence per finding; empty = sound.
  std::vector<std::string> verify() const;

 private:
  struct Impl;
  explicit Database(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lehr
