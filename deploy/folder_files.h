// A folder of files that replaces an older one in one step.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "deploy/file_list.h"

namespace lehr {

struct FolderFile {
  std::string path;                   ///< within the folder, with '/' between its words
  std::string bytes;                  ///< where it is no copy of a file
  std::filesystem::path source = {};  ///< the file that it is a copy of; its contents are never in memory
};

/// All bytes of a file. Throws Error(kUser) where it cannot be read.
std::string read_bytes(const std::filesystem::path& path);

/// Writes files to a folder that has none of them. Throws Error(kUser) where a source cannot be read,
/// Error(kEnvironment) where the disk refuses.
void fill_folder(const std::string& folder, std::span<const FolderFile> files);

/// The files that are ours in a folder of some kind that carries no list; nullopt: it is not of this kind.
using OwnFiles = std::optional<FileList>(const std::string& path);

/// Throws Error(kUser), one sentence, unless write_folder() may replace what `path` names: nothing, or a
/// folder that is of this kind, is not in use as the process's own, and holds only files that were written
/// there, as they were written (others_in()).
void check_replaceable(const std::string& path, OwnFiles* own_files);

/// Writes the files, and a list of them, to a new folder beside `path`, flushed to disk, and renames that:
/// readers see the old folder or the whole new one. What is there already is replaced if check_replaceable()
/// accepts it, and keeps its mode. Throws Error(kUser) where it does not, Error(kEnvironment) where the disk
/// refuses; nothing is left behind then, and the old folder stays. What killed processes left that wrote to
/// `path` is removed.
void write_folder(const std::string& path, std::span<const FolderFile> files, OwnFiles* own_files);

}  // namespace lehr
