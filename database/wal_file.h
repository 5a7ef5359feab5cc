// The write-ahead log of a SQLite file as bytes on a disk: whether a frame in its middle is damaged. SQLite
// takes the first invalid frame for the end, and writes over the frames behind it. Source of the format:
// sqlite.org/fileformat2.html, section 4.
#pragma once

#include <filesystem>
#include <string>

namespace lehr {

/// Returns what is wrong with `path`-wal, one sentence without a full stop; "" if nothing is wrong or the
/// file does not exist. A frame is damaged if it is not valid though a later transaction lies behind it. A
/// last transaction that was cut off and frames of an earlier round of the log are sound.
std::string damage_of_wal(const std::filesystem::path& path);

}  // namespace lehr
