// Files that are written whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace lehr {

/// Writes `bytes` to the file that `path` names, through symbolic links. A regular file is replaced in one
/// step and keeps its mode; a new one gets the process's. Bytes for a character device, or for a pipe that
/// somebody reads, go into it. Throws Error(kEnvironment), one sentence, if nothing could be written, and
/// then leaves what was there.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace lehr
