// Helpers of the database's tests: a directory that goes away, random records, and a comparison of two
// records.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "base/error.h"
#include "base/rng.h"
#include "database/database.h"

namespace lehr::test {

/// A fresh directory, removed with all that is in it.
class TempDir {
 public:
  TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();
  std::filesystem::path path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// Returns any record that the database must be able to hold: both kinds of outcome, every optional field
/// there or not, texts with quotes, line ends, zero bytes and no UTF-8, extreme numbers. id and
/// created_unix_ms are left to the database.
Record random_record(Rng& rng);
/// Returns a timing of `time_us` for this task, otherwise plain.
Record timed(const std::string& workload, const std::string& device, double time_us);
/// Returns a failure for this task.
Record failed(const std::string& workload, const std::string& device, FailureKind kind);

/// Returns how many bytes this process has read from files.
std::int64_t bytes_read();

/// Adds `count` trials in one transaction: trial(0), trial(1), ..., each with its number as id.
void add_trials(Database& log, int count, const std::function<Record(int)>& trial);

/// Returns a verdict for this task that names the winner's id.
StoredVerdict verdict(const std::string& workload, const std::string& device, const std::string& winner);

/// Returns the row with another value in one column, and the checksum that belongs to it: what a stranger
/// could write.
sqlite::Row changed(const LogTable& table, sqlite::Row row, std::string_view name,
                    const sqlite::Value& value);

/// Returns a GPU with so many multiprocessors, as it would be stored.
StoredDevice stored_gpu(const std::string& name, int cores);

/// Returns a finding of cudnn-unfused on workload "w" and device "d": algorithm 5 of 44, of which 9 were
/// tried.
StoredAlgorithm stored_algorithm(const std::string& session, std::int64_t list = 0);

std::string bytes_of(const std::filesystem::path& path);
void write_bytes(const std::filesystem::path& path, const std::string& bytes);
/// Returns the table and checksum of every sound row, one a line: equal texts mean equal logs.
std::string dump_of(const Database& database);

/// Returns all fields of a record, one a line: equal texts mean equal records, and a difference can be read.
std::string describe(const Record& record);

/// The kind and message of the Error that `action` throws. The test fails if it throws no Error.
struct Caught {
  int kind = -1;  ///< ErrorKind as a number
  std::string message;
};
Caught error_of(const std::function<void()>& action);
inline constexpr int kUser = static_cast<int>(ErrorKind::kUser);
inline constexpr int kEnvironment = static_cast<int>(ErrorKind::kEnvironment);

/// Runs `body` in a forked child and returns its wait status. The child leaves by _exit(0), or _exit(99) with
/// the message on stderr if `body` throws.
int in_child(const std::function<void()>& body);

}  // namespace lehr::test
