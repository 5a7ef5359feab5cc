// Rows as lines of JSON: the form in which a log leaves SQLite, and comes back.
#pragma once

#include <string>
#include <string_view>

#include "database/columns.h"

namespace lehr {

/// {"table":"trial","id":"...",...,"checksum":N}: every column, in the order of columns.h, without blanks or
/// line break. A text that is no UTF-8 is {"hex":"..."}, an infinite number "inf" or "-inf"; every other
/// number reads back exactly. The row must have the table's types.
std::string to_json_line(const LogTable& table, const sqlite::Row& row);

struct LogRow {
  const LogTable* table = nullptr;
  sqlite::Row row;
};
/// Inverse of to_json_line, whatever the order of the names; columns that came after schema version 1 may be
/// missing. Does not look at the checksum. Throws Error(kUser), a clause without file and line: "'time_us'
/// must be a number".
LogRow parse_json_line(std::string_view line);

}  // namespace lehr
