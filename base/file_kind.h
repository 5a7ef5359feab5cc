// What a path names, where it is no file that can be read twice.
#pragma once

#include <filesystem>
#include <string_view>

namespace lehr {

/// "a directory", "a pipe", "a device" or "a socket"; "" for a regular file, and where nothing is there.
/// Links are followed. Opening a pipe waits for its other end: ask first.
std::string_view kind_if_no_file(const std::filesystem::path& path);

/// Whether a path leads to a place in a folder, or to the folder itself. Links of both are followed; neither
/// has to be there.
bool leads_into(const std::filesystem::path& path, const std::filesystem::path& folder);

}  // namespace lehr
