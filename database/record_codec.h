// Converts records, verdicts and devices to rows of their tables (columns.h) and back.
#pragma once

#include <optional>

#include "database/database.h"
#include "database/record.h"
#include "database/sqlite.h"

namespace lehr {

/// Returns the row of a record. CHECKs that it has no value that a record must not have: a NaN, a time that
/// is not positive, or an empty id, family or other required text.
sqlite::Row encode(const Record& record);
sqlite::Row encode(const StoredVerdict& verdict);
sqlite::Row encode(const StoredDevice& device);
sqlite::Row encode(const StoredOrigin& origin);
sqlite::Row encode(const StoredAlgorithm& algorithm);

/// Returns the record of a row; nullopt if the row is damaged: its checksum is wrong, or this version cannot
/// read a value.
std::optional<Record> decode_record(const sqlite::Row& row);
std::optional<StoredVerdict> decode_verdict(const sqlite::Row& row);
std::optional<StoredDevice> decode_device(const sqlite::Row& row);
std::optional<StoredOrigin> decode_origin(const sqlite::Row& row);
std::optional<StoredAlgorithm> decode_algorithm(const sqlite::Row& row);

}  // namespace lehr
