// Records and verdicts as rows: one value per column, the last one a checksum over all the others.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "database/database.h"
#include "database/record.h"
#include "database/sqlite.h"

namespace lehr {

/// Column names of the tables `trial` and `verdict` in the order of the rows below, "checksum" last. `seq` is
/// left out: it says where a row lies, not what it says.
std::span<const std::string_view> record_columns();
std::span<const std::string_view> verdict_columns();

/// CHECKs what no record may hold: a NaN, a time that is not positive, an empty id, family or text that names
/// nothing.
sqlite::Row encode(const Record& record);
sqlite::Row encode(const Verdict& verdict);

/// nullopt if the row is damaged: its checksum is wrong, or it holds what this version cannot read.
std::optional<Record> decode_record(const sqlite::Row& row);
std::optional<Verdict> decode_verdict(const sqlite::Row& row);

/// The persisted checksum of a row's values under these names; specified in README.md, fixed for ever.
std::uint64_t row_checksum(std::span<const std::string_view> names, std::span<const sqlite::Value> values);

}  // namespace lehr
