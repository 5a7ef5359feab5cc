// The layout of the file: the mark of its owner, and its tables.
#pragma once

#include <cstdint>
#include <string>

#include "database/sqlite.h"

namespace lehr {

/// PRAGMA application_id of our files: "Lehr" in ASCII.
inline constexpr std::int64_t kApplicationId = 0x4C656872;
/// PRAGMA user_version of our files. It is raised with every change of a column, and files with another
/// version are refused. Versions 1 to 6 are older than the first release.
inline constexpr std::int64_t kSchemaVersion = 7;

/// Throws Error(kUser), whose text names the file's version and ours.
[[noreturn]] void throw_other_version(const std::string& path, std::int64_t version);

/// Returns whether the file is a log; false if it is empty. Only reads. Throws Error(kUser) for another
/// program's file and for another version (the text names both). Throws it also unless the file has exactly
/// our tables and indexes: a trigger or index of another origin would run when a row is added.
bool is_log(const sqlite::Connection& connection);

/// Creates the tables in an empty file, all of them or none. Does not change a file that is a log. Two
/// processes may do this to one file at the same time. Throws as is_log().
void make_log(const sqlite::Connection& connection);

}  // namespace lehr
