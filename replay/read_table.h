// Reads recorded tables from files. Each format is described at its own reader.
#pragma once

#include <string>
#include <vector>

#include "replay/table.h"

namespace lehr {

/// Reads the tables of a file. The format is recognized by the content: a Kernel Tuner cache file, plain or
/// gzipped (one table), or one of our own logs (one table per workload and device). Throws Error(kUser) with
/// one sentence: the file, the position in it, and what would be right.
std::vector<Table> read_tables(const std::string& path);
/// Reads the table in a JSON text. `path` is the file that the text comes from; it is not read. Throws as
/// read_tables().
Table parse_table(std::string text, const std::string& path);

}  // namespace lehr
