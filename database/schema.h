// The layout of the file: whose it is, which version it has, and the steps that bring an older one up to
// date.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "database/sqlite.h"

namespace lehr {

/// PRAGMA application_id of our files: "Lehr" in ASCII.
inline constexpr std::int64_t kApplicationId = 0x4C656872;

/// One step forward. Once released, a step never changes; a new layout is a new step.
struct Migration {
  int version;           ///< PRAGMA user_version after the step
  std::string_view sql;  ///< any number of statements
};
/// All steps, in order, versions 1, 2, ...: the first makes a new file.
std::span<const Migration> migrations();

/// The file's schema version; 0 for an empty file. Only reads.
/// Throws Error(kUser) for another program's file, and for a version newer than the last of `steps` (naming
/// both).
int schema_version(const sqlite::Connection& connection, std::span<const Migration> steps = migrations());

/// Applies the steps that the file lacks, all or nothing; two processes may do this to one file at once.
/// `before` is called with the file's version, unless that is 0, when nothing was changed yet and nobody else
/// can change anything.
void migrate(const sqlite::Connection& connection, std::span<const Migration> steps = migrations(),
             const std::function<void(int version)>& before = {});

/// schema_version(), and throws Error(kUser) unless the file's tables and indexes are, to the letter, those
/// of that version and there is nothing else: a trigger or an index of a stranger's would run when a row is
/// added.
int checked_version(const sqlite::Connection& connection, std::span<const Migration> steps = migrations());

}  // namespace lehr
