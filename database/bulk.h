// Adds many rows of unknown origin in one transaction. Used by merge and salvage.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "database/impl.h"

namespace lehr {

/// Returns why a row is not a valid row of the table: "its checksum is wrong", "its values are no trial". "":
/// it is sound.
std::string why_damaged(const LogTable& table, const sqlite::Row& row);

/// Lives inside one transaction.
class Bulk {
 public:
  explicit Bulk(Database::Impl& impl);
  Bulk(const Bulk&) = delete;

  /// Adds the row if it is sound and new. Counts the result in `counts`.
  void add(const LogTable& table, const sqlite::Row& row, AddedRows& counts);
  /// Notes that the rows added since the last call came from the log in the file `path`. Each of their
  /// sessions gets it as its origin, unless it was run here or has an origin already.
  /// StoredOrigin::merged_from is the file's name without folders, which are private.
  void came_from(const std::filesystem::path& path);
  /// Notes that the rows added since the last call were run here, unless their log has another origin for
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
