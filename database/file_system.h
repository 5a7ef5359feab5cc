// Checks where a database may lie, and how it can be read there. Called before SQLite opens the file.
#pragma once

#include <filesystem>
#include <string_view>

#include "database/sqlite.h"

namespace lehr {

/// Returns the name of a network (or user-space) file system, given its statfs magic; "" for a local file
/// system. A write-ahead log needs memory that all its users share, which such a file system does not provide
/// (sqlite.org/wal.html). The numbers are from Linux <linux/magic.h> and statfs(2); those of GPFS, Lustre and
/// BeeGFS are from their own kernel modules.
std::string_view network_file_system(std::uint64_t magic);

/// Throws Error(kEnvironment) if `path`, or the directory in which it would be created, is on a network file
/// system. Throws Error(kUser) if `path` is a directory, a pipe or a device, if its directory does not exist,
/// or if it is a file that is neither empty nor a SQLite file.
void check_place(const std::filesystem::path& path);

/// Returns the mode for reading an existing file without changing its content, and without leaving helper
/// files behind if possible. A write-ahead log needs its "-shm" helper file. If that file does not exist and
/// cannot be created (a read-only directory), or on a network file system, the file is read as immutable,
/// which is correct if its write-ahead log has no rows. Throws Error(kUser) if the file does not exist, is
/// not a regular file or is not a SQLite file. Throws Error(kEnvironment) if its write-ahead log has rows
/// that cannot be read there.
sqlite::Mode read_only_mode(const std::filesystem::path& path);

}  // namespace lehr
