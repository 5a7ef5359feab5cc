// Writes a folder of files, wholly or not at all.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace lehr {

struct FolderFile {
  std::string path;                   ///< path within the folder, with '/' as separator
  std::string bytes;                  ///< contents, unless `source` is set
  std::filesystem::path source = {};  ///< if set, the file to copy; its contents are never in memory
};

/// The file at the top of each folder that write_folder() wrote. A program that loads the folder does not
/// read it.
inline constexpr const char* kFolderMarker = "lehr_folder";

/// Returns all bytes of a file. Throws Error(kUser) if the file cannot be read.
std::string read_bytes(const std::filesystem::path& path);

/// Writes files to a folder, in which none of them exists yet. Throws Error(kUser) if a source cannot be
/// read, Error(kEnvironment) if writing fails.
void fill_folder(const std::string& folder, std::span<const FolderFile> files);

/// Checks whether write_folder() may write to `path`, and throws Error(kUser) with one sentence if it may
/// not. The path must not exist, or be an empty folder, or, with `replace`, be a folder with the file
/// kFolderMarker. It must not be a link, the current folder or a folder above it, a mount point, or a folder
/// that contains one of `inputs` (an input of "" is ignored). Throws Error(kEnvironment) if the parent folder
/// does not exist or is not writable.
void check_out_folder(const std::string& path, bool replace, const std::vector<std::string>& inputs = {});

/// Writes the files and kFolderMarker to the new folder `PATH.PID.tmp/new`, flushes them to disk, and renames
/// the folder to `path`. With `replace`, the old folder is moved away just before that, and removed with all
/// its contents afterwards. Throws Error(kUser) as check_out_folder() does, and if a source is in the old
/// folder or cannot be read. Throws Error(kEnvironment) if writing fails. After an error the old folder is
/// unchanged, and no new files are left. Also removes temporary folders for `path` that killed processes have
/// left.
void write_folder(const std::string& path, std::span<const FolderFile> files, bool replace = false);

}  // namespace lehr
