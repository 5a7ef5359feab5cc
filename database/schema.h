// The layout of the file: whose it is, and the tables that it has.
#pragma once

#include <cstdint>
#include <string>

#include "database/sqlite.h"

namespace lehr {

/// PRAGMA application_id of our files: "Lehr" in ASCII.
inline constexpr std::int64_t kApplicationId = 0x4C656872;
/// PRAGMA user_version of our files. A change of any column raises it, and files of other versions are
/// refused. Versions 1 to 6 were of before the first release.
inline constexpr std::int64_t kSchemaVersion = 7;

/// Throws Error(kUser) that names the version of a file and ours.
[[noreturn]] void throw_other_version(const std::string& path, std::int64_t version);

/// Whether the file is a log; false: it is empty. Only reads. Throws Error(kUser) for another program's file,
/// for another version (naming both), and unless its tables and indexes are, to the letter, ours and there is
/// nothing else: a trigger or an index of a stranger's would run when a row is added.
bool is_log(const sqlite::Connection& connection);

/// Makes the tables in an empty file, all or nothing; leaves a log as it is. Two processes may do this to one
/// file at once. Throws as is_log().
void make_log(const sqlite::Connection& connection);

}  // namespace lehr
