// Writes a folder of files, wholly or not at all.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace lehr {

struct FolderFile {
  std::string path;                   ///< within the folder, with '/' as separator
  std::string bytes;                  ///< contents, unless it is a copy of a file
  std::filesystem::path source = {};  ///< the file that it is a copy of; its contents are never in memory
};

/// The file at the top of each folder that write_folder() wrote. A program that loads the folder does not
/// read it.
inline constexpr const char* kFolderMarker = "lehr_folder";

/// Returns all bytes of a file. Throws Error(kUser) if it cannot be read.
std::string read_bytes(const std::filesystem::path& path);

/// Writes files to a folder that has none of them. Throws Error(kUser) if a source cannot be read,
/// Error(kEnvironment) if the disk refuses.
void fill_folder(const std::string& folder, std::span<const FolderFile> files);

/// Throws Error(kUser) with one sentence unless write_folder() may write to `path`: nothing is there, or an
/// empty folder, or with `replace` a folder that has kFolderMarker. It is never a link, the current folder or
/// one above it, a mount point, or a folder that has one of `inputs` in it ("": an input that was not given).
/// Throws Error(kEnvironment) if its parent folder does not exist or is not writable.
void check_out_folder(const std::string& path, bool replace, const std::vector<std::string>& inputs = {});

/// Writes the files and kFolderMarker to a new folder beside `path`, `PATH.PID.tmp/new`, flushes them to
/// disk, and renames that to `path`. With `replace` the old folder is moved away just before, and is removed
/// with all its contents. Throws Error(kUser) as check_out_folder() does, and if a source is in the folder or
/// cannot be read; Error(kEnvironment) if the disk refuses. After an error nothing new is left, and the old
/// folder stays. Files that killed processes left beside `path` are removed.
void write_folder(const std::string& path, std::span<const FolderFile> files, bool replace = false);

}  // namespace lehr
