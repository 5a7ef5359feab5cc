// Tells what a path names if it is not a regular file.
#pragma once

#include <filesystem>
#include <string_view>

namespace lehr {

/// Returns "a directory", "a pipe", "a device" or "a socket"; "" for a regular file, and if nothing exists
/// there. Follows links. Opening a pipe waits for its other end, so this should be called first.
std::string_view kind_if_no_file(const std::filesystem::path& path);

/// Returns whether a path names a folder or something inside it. Follows the links of both paths. Neither has
/// to exist.
bool leads_into(const std::filesystem::path& path, const std::filesystem::path& folder);

}  // namespace lehr
