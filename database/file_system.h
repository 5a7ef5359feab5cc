// Checks where a database may lie, and how it can be read there, before SQLite touches the file.
#pragma once

#include <filesystem>
#include <string_view>

#include "database/sqlite.h"

namespace lehr {

/// Returns the name of a network (or user-space) file system by its statfs magic, "" for a local one. A
/// write-ahead log needs memory shared by all its users, which such a file system does not provide
/// (sqlite.org/wal.html). Source of the numbers: Linux <linux/magic.h> and statfs(2); GPFS, Lustre and BeeGFS
/// from their own kernel modules.
std::string_view network_file_system(std::uint64_t magic);

/// Throws Error(kEnvironment) if `path`, or the directory it would be created in, is on a network file
/// system. Throws Error(kUser) if `path` is a directory, a pipe or a device, if its directory does not exist,
/// or if it is a file that is neither empty nor SQLite's.
void check_place(const std::filesystem::path& path);

/// Returns the mode in which an existing file can be read without changing its content, and without leaving
/// files behind if possible. A write-ahead log needs its "-shm" helper. If that can be neither found nor
/// created (a read-only directory), and on a network file system, the file is complete without its log and is
/// read as immutable. Throws Error(kUser) if the file does not exist, is not a regular file or is not
/// SQLite's. Throws Error(kEnvironment) if its log holds rows that cannot be read there.
sqlite::Mode read_only_mode(const std::filesystem::path& path);

}  // namespace lehr
