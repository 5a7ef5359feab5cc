// The write-ahead log of a SQLite file as bytes on a disk. Detects a damaged frame in its middle: SQLite
// takes the first invalid frame for the end, and overwrites the frames after it. Source of the format:
// sqlite.org/fileformat2.html, section 4.
#pragma once

#include <filesystem>
#include <string>

namespace lehr {

/// Returns a sentence, without a full stop, about what is wrong with `path`-wal; "" if nothing is wrong or
/// the file does not exist. A frame is damaged if it is invalid and a later transaction follows it. A last
/// transaction that was cut off is sound, and so are frames that an earlier round of the log has left.
std::string damage_of_wal(const std::filesystem::path& path);

}  // namespace lehr
