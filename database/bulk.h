// Adding many rows of unknown origin in one transaction: what merge and salvage have in common.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "database/impl.h"

namespace lehr {

/// Why a row is none of ours: "its checksum is wrong", "its values are no trial". "" = it is sound.
std::string why_damaged(const LogTable& table, const sqlite::Row& row);

/// Lives inside one transaction.
class Bulk {
 public:
  explicit Bulk(Database::Impl& impl);
  Bulk(const Bulk&) = delete;

  /// Adds the row if it is sound and new, and counts what became of it.
  void add(const LogTable& table, const sqlite::Row& row, AddedRows& counts);
  /// What was added since the last call came from the log in the file `path`: each session of it that is
  /// neither known to be run here nor to be from elsewhere is from there. StoredOrigin::merged_from says the
  /// file's name without folders, which are nobody else's business.
  void came_from(const std::filesystem::path& path);
  /// What was added since the last call counts as run here, unless the log that it came from knew better.
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
