// Adding many rows of unknown origin in one transaction: what merge, import and salvage have in common.
#pragma once

#include <set>

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

 private:
  bool present(const sqlite::Row& row);

  Database::Impl& impl_;
  sqlite::Statement checksum_of_;
  std::set<sqlite::Value> verdicts_;  // a verdict has no id; its checksum stands for its content
};

}  // namespace lehr
