// Recorded tables from files: what each format looks like is told at the reader's own file.
#pragma once

#include <string>
#include <vector>

#include "replay/table.h"

namespace lehr {

/// The tables of a file, told apart by its content: a Kernel Tuner cache file, plain or gzipped (one table),
/// or one of our own logs (one table per workload and device). Throws Error(kUser), one sentence with the
/// file, the place in it and what would be right.
std::vector<Table> read_tables(const std::string& path);
/// The table in a JSON text, as of the file `path`, which is not read. Throws as read_tables().
Table parse_table(std::string text, const std::string& path);

}  // namespace lehr
