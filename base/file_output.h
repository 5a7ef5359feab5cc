// Files that are written whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace lehr {

/// Writes `bytes` to the file that `path` names, through symbolic links. A regular file is replaced in one
/// step and keeps its mode, a new one gets that of the process; bytes for a pipe that somebody reads or for a
/// character device go into it. Throws Error(kEnvironment), one sentence, where nothing could be written, and
/// then leaves what was there.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace lehr
