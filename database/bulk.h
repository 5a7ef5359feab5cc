// Adds many rows that other logs have written, in one transaction. Merge and salvage use it.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "database/impl.h"

namespace lehr {

/// Returns why a row is not a valid row of the table: "its checksum is wrong", "its values are no trial".
/// Returns "" if it is sound.
std::string why_damaged(const LogTable& table, const sqlite::Row& row);

/// A bulk insert. It lives inside one transaction.
class Bulk {
 public:
  explicit Bulk(Database::Impl& impl);
  Bulk(const Bulk&) = delete;

  /// Adds the row if it is sound and new. Counts the outcome in `counts`.
  void add(const LogTable& table, const sqlite::Row& row, AddedRows& counts);
  /// Records that the rows added since the last call came from the log in the file `path`. The file becomes
  /// the origin of each session of these rows, unless the session was run here or has an origin already.
  /// StoredOrigin::merged_from is the file's name without its folders, since folders are private.
  void came_from(const std::filesystem::path& path);
  /// Records that the rows added since the last call were run here, unless their log names another origin for
  /// them.
  void was_run_here();

 private:
  bool present(const sqlite::Row& row);

  Database::Impl& impl_;
  sqlite::Statement checksum_of_;
  std::set<sqlite::Value> verdicts_;  // a verdict has no id; its checksum stands for its content
  std::set<sqlite::Value> here_;      // sessions that were run here
  std::set<sqlite::Value> added_;     // sessions of rows that were added since came_from()
};

}  // namespace lehr
