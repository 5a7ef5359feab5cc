// The members of an open log. Private to database/, where several files implement the functions of Database.
#pragma once

#include <map>
#include <string>

#include "database/columns.h"
#include "database/database.h"
#include "database/sqlite.h"

namespace lehr {

struct Database::Impl {
  explicit Impl(sqlite::Connection opened) : connection(std::move(opened)) {}

  /// Adds a row, which is durable on return unless a transaction is open. Returns false if there is a row
  /// with the same value of LogTable::unique. Throws Error(kEnvironment) if the log was opened for reading.
  bool insert(const LogTable& table, const sqlite::Row& row);

  /// If the log's file was removed, renamed or replaced, saves all rows to a file in the same folder and
  /// throws Error(kEnvironment), whose text names that file.
  void expect_in_place() const;

  sqlite::Connection connection;
  std::map<const LogTable*, sqlite::Statement> inserts;  ///< prepared on first use
};

}  // namespace lehr
