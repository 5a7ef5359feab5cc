// The layout of the file: its owner's mark, and its tables.
#pragma once

#include <cstdint>
#include <string>

#include "database/sqlite.h"

namespace lehr {

/// PRAGMA application_id of our files: "Lehr" in ASCII.
inline constexpr std::int64_t kApplicationId = 0x4C656872;
/// PRAGMA user_version of our files. A change of any column raises it, and files of other versions are
/// refused. Versions 1 to 6 are older than the first release.
inline constexpr std::int64_t kSchemaVersion = 7;

/// Throws Error(kUser) that names a file's version and ours.
[[noreturn]] void throw_other_version(const std::string& path, std::int64_t version);

/// Returns whether the file is a log; false: it is empty. Only reads. Throws Error(kUser) for another
/// program's file and for another version (naming both). Throws it also unless the file has exactly our
/// tables and indexes and nothing else: a stranger's trigger or index would run when a row is added.
bool is_log(const sqlite::Connection& connection);

/// Creates the tables in an empty file, all or nothing. Leaves a log as it is. Two processes may do this to
/// one file at once. Throws as is_log().
void make_log(const sqlite::Connection& connection);

}  // namespace lehr
