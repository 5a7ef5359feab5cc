// Files that are written whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace lehr {

/// Writes `bytes` to the file that `path` names, through symbolic links. A regular file is replaced in one
/// step and keeps its mode; a new file gets the process's default mode. If `path` is a character device, or a
/// pipe that somebody reads, the bytes are written into it. If nothing could be written, throws
/// Error(kEnvironment), one sentence, and leaves the old contents unchanged.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace lehr
