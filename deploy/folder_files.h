// A folder of files that replaces an older one in one step.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace lehr {

struct FolderFile {
  std::string path;  ///< within the folder, with '/' between its words
  std::string bytes;
};

/// All bytes of a file. Throws Error(kUser) where it cannot be read.
std::string read_bytes(const std::filesystem::path& path);

/// Writes the files to a new folder beside `path`, flushed to disk, and renames that: readers see the old
/// folder or the whole new one. What is there already is replaced if it is a folder that `is_ours` accepts.
/// Throws Error(kUser) where it is anything else, Error(kEnvironment) where the disk refuses; nothing is left
/// behind then, and the old folder stays.
void write_folder(const std::string& path, std::span<const FolderFile> files,
                  bool (*is_ours)(const std::string& path));

}  // namespace lehr
