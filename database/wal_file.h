// The write-ahead log of a SQLite file as bytes on a disk: whether something in its middle is damaged. SQLite
// takes the first frame that is not valid for the end, and writes over what lies behind. Source of the
// format: sqlite.org/fileformat2.html, section 4.
#pragma once

#include <filesystem>
#include <string>

namespace lehr {

/// What is wrong with `path`-wal, one sentence without a full stop; "" where nothing is, or where there is no
/// such file. A damaged frame is one that is not valid though a later transaction lies behind it. A last
/// transaction that was cut off and frames of an earlier round of the log are sound.
std::string damage_of_wal(const std::filesystem::path& path);

}  // namespace lehr
