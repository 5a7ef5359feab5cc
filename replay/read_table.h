// Reads recorded tables from files. Each format is described at its own reader.
#pragma once

#include <string>
#include <vector>

#include "replay/table.h"

namespace lehr {

/// Reads the tables of a file, whose format is recognized by its content: a Kernel Tuner cache file, plain or
/// gzipped (one table), or one of our own logs (one table per workload and device). Throws Error(kUser) with
/// one sentence: the file, the place in it and what would be right.
std::vector<Table> read_tables(const std::string& path);
/// Reads the table in a JSON text, as if from the file `path`, which is not read. Throws as read_tables().
Table parse_table(std::string text, const std::string& path);

}  // namespace lehr
