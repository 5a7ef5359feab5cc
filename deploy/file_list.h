// The list of its files that a folder of ours carries, and what else lies there.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lehr {

/// Its name within the folder. Nothing that loads a folder reads it.
inline constexpr const char* kFileList = "lehr_files.json";

/// Files by their paths within a folder, with '/' between the words, and the content_hash() of each; nullopt:
/// any content.
using FileList = std::map<std::string, std::optional<std::string>>;

/// 16 hexadecimal digits that tell contents apart which nobody makes alike on purpose, at the speed of
/// memory; "" where the file cannot be read.
std::string content_hash(const std::filesystem::path& path);

/// The text of a list.
std::string list_text(const FileList& files);
/// The list that a folder carries; nullopt where it has none that can be read.
std::optional<FileList> list_of(const std::filesystem::path& folder);

/// What lies in a folder beside its list, the files of `ours` with these contents, and what installing the
/// Python module leaves in `python/`: paths within the folder; of another folder its name with a '/' alone,
/// and of a file of ours that is another by now its name with "(changed)". Links are not followed. Throws
/// Error(kEnvironment) where a folder cannot be read.
std::vector<std::string> others_in(const std::filesystem::path& folder, const FileList& ours);

}  // namespace lehr
