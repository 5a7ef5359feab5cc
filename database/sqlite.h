// The only files that use SQLite are this one and sqlite.cpp: connection, statement and transaction with
// RAII. SQLite's error codes become Errors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace lehr::sqlite {

/// The value of one column of one row: NULL, INTEGER, REAL or TEXT. A blob, which we never write, reads as
/// NULL.
using Value = std::variant<std::monostate, std::int64_t, double, std::string>;
using Row = std::vector<Value>;

enum class Mode {
  kReadWrite,  ///< creates the file if it does not exist
  kReadOnly,   ///< leaves "-wal" and "-shm" behind, since it may not remove them
  /// Writes no row; the last process to close the file removes "-wal" and "-shm", as a writer does.
  kReadTidily,
  kImmutable,  ///< read-only, without locks or helper files: only where nothing can change the file
};

/// A prepared statement. Must not outlive its connection.
class Statement {
 public:
  /// Binds all parameters, in order. Texts must not move or change until the last step(). CHECKs the number
  /// of values.
  void bind(std::span<const Value> values);
  /// Goes to the next row. Returns false at the end; the statement can then be bound and run again.
  bool step();
  /// Returns all columns of the current row.
  Row row() const;
  /// Returns one column of the current row, counted from 0. CHECKs that it has type T.
  template <typename T>
  T get(int column) const;

 private:
  friend class Connection;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(sqlite3* db, std::string_view sql);
  Value column(int index) const;
  sqlite3* db_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// An open file. All functions throw Error: kUser for a file that is not a SQLite file; kEnvironment for a
/// full disk, a read-only or damaged file, missing rights, or a lock that another process held for longer
/// than kBusyTimeoutMs.
class Connection {
 public:
  /// Milliseconds that a statement waits for another process's transaction. The transaction of a trial takes
  /// milliseconds, the merge of a million rows takes most of a minute.
  static constexpr int kBusyTimeoutMs = 60'000;

  /// Opens `path`, which is not interpreted as a URI; ":memory:" is an in-memory database. Does not read the
  /// file yet.
  Connection(const std::filesystem::path& path, Mode mode);

  Statement prepare(std::string_view sql) const { return Statement(db_.get(), sql); }
  /// Runs any number of statements that need no parameters.
  void execute(const std::string& sql) const;
  /// Returns the first column of the first row. CHECKs that the row exists and the column has this type.
  std::int64_t query_int(std::string_view sql) const;
  std::string query_text(std::string_view sql) const;
  /// Returns the number of rows that the last INSERT added.
  std::int64_t changes() const;
  /// Switches the file to a write-ahead log, durable on every commit. Throws Error(kEnvironment) if the file
  /// system does not support it.
  void use_durable_log() const;
  /// Copies the committed content to `destination`, which must be empty.
  void copy_to(const Connection& destination) const;
  /// Returns true if the file was opened for reading, or was opened for writing but allows only reading.
  bool read_only() const;
  /// Returns the absolute path; "" for ":memory:".
  std::string path() const;
  /// Returns whether the open file was removed, renamed or replaced. If so, rows that are written are lost:
  /// no path leads to the file any more.
  bool has_moved() const;

 private:
  friend class Transaction;
  struct Close {
    void operator()(sqlite3* db) const;
  };
  bool reads_;
  std::unique_ptr<sqlite3, Close> db_;
};

/// A consistent view of the file, or a change of it that is made completely or not at all. The destructor
/// rolls back unless commit() was called.
class Transaction {
 public:
  enum class Access { kRead, kWrite };
  explicit Transaction(const Connection& connection, Access access = Access::kWrite);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  void commit();

 private:
  const Connection& connection_;
};

}  // namespace lehr::sqlite
