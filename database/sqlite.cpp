// The only file that includes SQLite's header.
#include "database/sqlite.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/error.h"
#include "base/overloaded.h"

namespace lehr::sqlite {
namespace {

// Maximum number of bytes of one row. We never write longer rows.
constexpr int kMostBytes = 64 << 20;

// Returns whether the disk is full. SQLite reports an exceeded quota or file size limit as a plain I/O error.
// For the user these are the same as a full disk.
bool is_out_of_space(int code, int system_error) {
  return (code & 0xff) == SQLITE_FULL ||
         ((code & 0xff) == SQLITE_IOERR &&
          (system_error == ENOSPC || system_error == EDQUOT || system_error == EFBIG));
}

[[noreturn]] void fail(const std::string& path, int code, int system_error, const std::string& detail) {
  if (is_out_of_space(code, system_error)) {
    throw_environment(
        "no space left for the database '{}' (disk full, quota or file size limit); every row acknowledged "
        "before "
        "is kept: free some space and run again",
        path);
  }
  const std::string reason = system_error != 0 ? std::strerror(system_error) : detail;
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      throw_user("'{}' is not a Lehr database: it is no SQLite file", path);
    case SQLITE_CORRUPT:
      throw_environment(
          "the database '{}' is damaged ({}); lehr db salvage writes what is left to a new file", path,
          detail);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw_environment("the database '{}' is locked: another process has been writing to it for {} s", path,
                        Connection::kBusyTimeoutMs / 1000);
    case SQLITE_READONLY:
      throw_environment("the database '{}' cannot be written: the file or its directory is read-only", path);
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      throw_environment("the database '{}' cannot be opened: {}", path, reason);
    case SQLITE_IOERR:
      throw_environment("reading or writing the database '{}' failed: {}", path, reason);
    case SQLITE_ERROR:  // our statements fit our tables, so the tables are not ours any more
      throw_environment("the database '{}' cannot be used: {}; its tables are damaged or were changed", path,
                        detail);
    case SQLITE_TOOBIG:
      throw_environment("the database '{}' has or would get a row of more than {} MiB, which no trial needs",
                        path, kMostBytes >> 20);
    case SQLITE_NOMEM:
      throw_environment("no memory left while using the database '{}'", path);
    default:
      throw Error(
          ErrorKind::kInternal,
          fmt::format("internal error: SQLite code {} for the database '{}': {}", code, path, detail));
  }
}

// Throws for an error code. SQLite stores the system's error of an open or a read, but not that of a commit.
// After a commit `errno` still has the error, if it was cleared before the call.
void check(sqlite3* db, int code) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  const int last_error = errno;
  const int system_error = sqlite3_system_errno(db) != 0 ? sqlite3_system_errno(db) : last_error;
  const char* path = sqlite3_db_filename(db, "main");
  fail(path != nullptr && *path != '\0' ? path : ":memory:", code, system_error, sqlite3_errmsg(db));
}

// Returns a URI (RFC 3986). All characters but the unreserved ones and '/' are escaped, so that no path can
// add a parameter.
std::string immutable_uri(const std::string& absolute_path) {
  std::string uri = "file://";
  for (const char c : absolute_path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::strchr("-._~/", c) != nullptr;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri + "?immutable=1";
}

/// Returns the system's error for an open. SQLite reports only "unable to open" if it may not read or write
/// the file, or may not create the file or its write-ahead log.
int open_error(const std::string& path, Mode mode) {
  const auto forbids = [](const std::string& what, int how) {
    return ::faccessat(AT_FDCWD, what.c_str(), how, AT_EACCESS) == 0 ? 0 : errno;
  };
  if (mode != Mode::kReadWrite) return forbids(path, R_OK);
  if (::access(path.c_str(), F_OK) == 0)
    if (const int error = forbids(path, R_OK | W_OK)) return error;
  return forbids(std::filesystem::path(path).parent_path().string(), W_OK | X_OK);
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Statement::Statement(sqlite3* db, std::string_view sql) : db_(db) {
  sqlite3_stmt* statement = nullptr;
  check(db, sqlite3_prepare_v2(db, sql.data(), static_cast<int>(sql.size()), &statement, nullptr));
  statement_.reset(statement);
}

void Statement::bind(std::span<const Value> values) {
  sqlite3_stmt* s = statement_.get();
  CHECK(static_cast<int>(values.size()) == sqlite3_bind_parameter_count(s), "{}", sqlite3_sql(s));
  sqlite3_reset(s);  // returns the last step's error code again, which step() has reported
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int at = static_cast<int>(i) + 1;
    const int code = std::visit(overloaded{
                                    [&](std::monostate) { return sqlite3_bind_null(s, at); },
                                    [&](std::int64_t value) { return sqlite3_bind_int64(s, at, value); },
                                    [&](double value) { return sqlite3_bind_double(s, at, value); },
                                    [&](const std::string& value) {
                                      return sqlite3_bind_text64(s, at, value.data(), value.size(),
                                                                 SQLITE_STATIC, SQLITE_UTF8);
                                    },
                                },
                                values[i]);
    check(db_, code);
  }
}

bool Statement::step() {
  errno = 0;
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) {
    try {
      check(db_, code);
    } catch (...) {
      // Releases the locks; called after check(), because it clears the error's message.
      sqlite3_reset(statement_.get());
      throw;
    }
  }
  sqlite3_reset(statement_.get());
  return false;
}

Value Statement::column(int index) const {
  sqlite3_stmt* s = statement_.get();
  switch (sqlite3_column_type(s, index)) {
    case SQLITE_INTEGER:
      return static_cast<std::int64_t>(sqlite3_column_int64(s, index));
    case SQLITE_FLOAT:
      return sqlite3_column_double(s, index);
    case SQLITE_TEXT: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(s, index));
      return std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(s, index)));
    }
    default:
      return std::monostate();
  }
}

Row Statement::row() const {
  Row row;
  const int count = sqlite3_column_count(statement_.get());
  row.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) row.push_back(column(i));
  return row;
}

template <typename T>
T Statement::get(int index) const {
  Value value = column(index);
  T* typed = std::get_if<T>(&value);
  CHECK(typed != nullptr, "column {} of {}", index, sqlite3_sql(statement_.get()));
  return std::move(*typed);
}
template std::int64_t Statement::get<std::int64_t>(int) const;
template double Statement::get<double>(int) const;
template std::string Statement::get<std::string>(int) const;

void Connection::Close::operator()(sqlite3* db) const {
  sqlite3_close_v2(db);
}

Connection::Connection(const std::filesystem::path& path, Mode mode) : reads_(mode != Mode::kReadWrite) {
  const bool in_memory = path == ":memory:";
  const std::string absolute = in_memory ? path.string() : std::filesystem::absolute(path).string();
  int flags = mode == Mode::kReadWrite    ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
              : mode == Mode::kReadTidily ? SQLITE_OPEN_READWRITE
                                          : SQLITE_OPEN_READONLY;
  flags |= SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  std::string name = absolute;
  if (mode == Mode::kImmutable) {
    name = immutable_uri(absolute);
    flags |= SQLITE_OPEN_URI;
  }
  sqlite3* db = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &db, flags, nullptr);
  db_.reset(db);
  if (code != SQLITE_OK) {
    int system_error = in_memory ? 0 : open_error(absolute, mode);
    if (system_error == 0 && db != nullptr) system_error = sqlite3_system_errno(db);
    fail(absolute, code, system_error, sqlite3_errstr(code));
  }
  check(db, sqlite3_busy_timeout(db, kBusyTimeoutMs));
  // A file from elsewhere must not run anything (sqlite.org/security.html): no function in its schema, no
  // trigger, no view, no endless row.
  check(db, sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr));
  check(db, sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr));
  check(db, sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr));
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, kMostBytes);
  if (mode == Mode::kReadTidily) execute("PRAGMA query_only=1");
}

void Connection::copy_to(const Connection& destination) const {
  sqlite3* to = destination.db_.get();
  sqlite3_backup* copying = sqlite3_backup_init(to, "main", db_.get(), "main");
  if (copying == nullptr) check(to, sqlite3_errcode(to));
  int code = SQLITE_OK;
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::milliseconds(kBusyTimeoutMs);
  errno = 0;
  do {  // repeated, because sqlite3_backup_step() does not wait for locks
    code = sqlite3_backup_step(copying, -1);
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  } while ((code == SQLITE_BUSY || code == SQLITE_LOCKED) && std::chrono::steady_clock::now() < give_up);
  const int last_error = errno;
  sqlite3_backup_finish(copying);
  if (code != SQLITE_DONE) fail(destination.path(), code, last_error, sqlite3_errstr(code));
}

void Connection::execute(const std::string& sql) const {
  errno = 0;
  check(db_.get(), sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr));
}

std::int64_t Connection::query_int(std::string_view sql) const {
  Statement statement = prepare(sql);
  CHECK(statement.step(), "{}", sql);
  return statement.get<std::int64_t>(0);
}

std::string Connection::query_text(std::string_view sql) const {
  Statement statement = prepare(sql);
  CHECK(statement.step(), "{}", sql);
  return statement.get<std::string>(0);
}

void Connection::use_durable_log() const {
  // Two processes that create the same file at the same time may both request this switch. SQLite returns
  // "busy" to one of them without waiting, so the waiting is done here.
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::milliseconds(kBusyTimeoutMs);
  for (;;) {
    const int code = sqlite3_exec(db_.get(), "PRAGMA journal_mode=WAL", nullptr, nullptr, nullptr);
    if ((code & 0xff) != SQLITE_BUSY || std::chrono::steady_clock::now() >= give_up) {
      check(db_.get(), code);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (query_text("PRAGMA journal_mode") != "wal") {
    throw_environment(
        "the database '{}' cannot keep a write-ahead log on its file system; put it on a local disk", path());
  }
  // FULL syncs the log at every commit. NORMAL, which is usual with a write-ahead log, would lose the last
  // rows in a power failure.
  execute("PRAGMA synchronous=FULL");
}

std::int64_t Connection::changes() const {
  return sqlite3_changes(db_.get());
}

bool Connection::read_only() const {
  return reads_ || sqlite3_db_readonly(db_.get(), "main") == 1;
}

std::string Connection::path() const {
  const char* path = sqlite3_db_filename(db_.get(), "main");
  return path == nullptr ? "" : path;
}

bool Connection::has_moved() const {
  int moved = 0;
  const int code = sqlite3_file_control(db_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return code == SQLITE_OK && moved != 0;  // false if the file system cannot report it
}

Transaction::Transaction(const Connection& connection, Access access) : connection_(connection) {
  connection_.execute(access == Access::kWrite ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
  // On a full disk SQLite rolls back by itself. A second ROLLBACK would be an error.
  sqlite3* db = connection_.db_.get();
  if (sqlite3_get_autocommit(db) == 0) sqlite3_exec(db, "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  connection_.execute("COMMIT");
}

}  // namespace lehr::sqlite
