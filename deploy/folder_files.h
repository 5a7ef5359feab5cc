// A folder of files, written whole or not at all.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace lehr {

struct FolderFile {
  std::string path;                   ///< within the folder, with '/' between its words
  std::string bytes;                  ///< where it is no copy of a file
  std::filesystem::path source = {};  ///< the file that it is a copy of; its contents are never in memory
};

/// The file at the top of each folder that write_folder() wrote. Nothing that loads the folder reads it.
inline constexpr const char* kFolderMarker = "lehr_folder";

/// All bytes of a file. Throws Error(kUser) where it cannot be read.
std::string read_bytes(const std::filesystem::path& path);

/// Writes files to a folder that has none of them. Throws Error(kUser) where a source cannot be read,
/// Error(kEnvironment) where the disk refuses.
void fill_folder(const std::string& folder, std::span<const FolderFile> files);

/// Throws Error(kUser), one sentence, unless write_folder() may write to `path`: nothing is there, or an
/// empty folder, or with `replace` a folder that has kFolderMarker. Never a link, the current folder or one
/// above it, a mount point, or a folder that one of `inputs` lies in ("": an input that was not given).
/// Throws Error(kEnvironment) where the folder that it is to lie in is not there, or may not be written.
void check_out_folder(const std::string& path, bool replace, const std::vector<std::string>& inputs = {});

/// Writes the files and kFolderMarker to a new folder beside `path`, `PATH.PID.tmp/new`, flushes them to
/// disk, and renames that to `path`. With `replace` the folder that was there makes room just before, and is
/// removed with all that is in it. Throws Error(kUser) where check_out_folder() does or a source lies in the
/// folder or cannot be read, Error(kEnvironment) where the disk refuses; nothing is left behind then, and
/// what was there stays. What killed processes left beside `path` is removed.
void write_folder(const std::string& path, std::span<const FolderFile> files, bool replace = false);

}  // namespace lehr
