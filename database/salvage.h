// Saves the sound rows of a damaged log to a new one.
#pragma once

#include <filesystem>

#include "database/database.h"

namespace lehr {

/// Reads `torn` and its "-wal" file page by page, whatever is wrong with them, and writes the rows whose
/// checksum is right to the new database `fresh`, in their order. `torn` is not changed, and SQLite need not
/// be able to open it. In the result, `refused` counts rows with a wrong checksum. Bytes that no longer look
/// like a row are not counted. Throws Error(kUser) if `torn` cannot be read or `fresh` exists. Throws
/// Error(kNotFound), leaving no file, if there is no sound row.
AddedRows salvage(const std::filesystem::path& torn, const std::filesystem::path& fresh);

}  // namespace lehr
