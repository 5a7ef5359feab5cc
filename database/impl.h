// The members of an open log. Private to database/, whose files each hold some of Database's functions.
#pragma once

#include <map>
#include <string>

#include "database/columns.h"
#include "database/database.h"
#include "database/sqlite.h"

namespace lehr {

struct Database::Impl {
  explicit Impl(sqlite::Connection opened) : connection(std::move(opened)) {}

  /// Adds a row, durable on return unless a transaction is open. Returns false if a row with the same
  /// LogTable::unique is already there. Throws Error(kEnvironment) if the log was opened for reading.
  bool insert(const LogTable& table, const sqlite::Row& row);

  /// Saves all rows to a file beside, and throws Error(kEnvironment) that names it, if the log's file was
  /// removed, renamed or replaced.
  void expect_in_place() const;

  sqlite::Connection connection;
  std::map<const LogTable*, sqlite::Statement> inserts;  ///< prepared on first use
};

}  // namespace lehr
