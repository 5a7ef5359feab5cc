// The kind of thing that a path names, if it is not a regular file.
#pragma once

#include <filesystem>
#include <string_view>

namespace lehr {

/// Returns "a directory", "a pipe", "a device" or "a socket", or "" for a regular file and where nothing is
/// there. Follows links. Opening a pipe waits for its other end: ask first.
std::string_view kind_if_no_file(const std::filesystem::path& path);

/// Returns whether a path leads into a folder, or to the folder itself. Follows the links of both. Neither
/// has to exist.
bool leads_into(const std::filesystem::path& path, const std::filesystem::path& folder);

}  // namespace lehr
