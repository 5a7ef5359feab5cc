// What is left of a damaged log, as a new one.
#pragma once

#include <filesystem>

#include "database/database.h"

namespace lehr {

/// Reads `torn` and its "-wal" page by page, whatever is wrong with them, and writes the rows whose checksum
/// is right to the new database `fresh`, in their order. `torn` is not changed, and need not be openable. The
/// counts' `refused` are rows that were found with a wrong checksum; what no longer looks like a row is not
/// counted. Throws Error(kUser) if `torn` cannot be read or `fresh` exists, Error(kNotFound), leaving no
/// file, if nothing is left.
AddedRows salvage(const std::filesystem::path& torn, const std::filesystem::path& fresh);

}  // namespace lehr
