// The columns of the tables as data, and the checksum over a row. The columns follow from the members of a
// record, a verdict and a device (record_codec.cpp).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "database/sqlite.h"

namespace lehr {

enum class ColumnType { kText, kInteger, kReal };

struct Column {
  std::string_view name;
  ColumnType type = ColumnType::kText;
  bool nullable = false;
};

/// A table, without its column `seq`, which is a row's position in the file and not part of its content. A
/// `Row` of the table has one value per column, in the order of `columns`.
struct LogTable {
  std::string_view name;
  std::span<const Column> columns;  ///< the last one is "checksum"
  std::string_view unique = "";  ///< no two rows have the same value in this column; "": no column is unique
};
const LogTable& trial_table();
const LogTable& verdict_table();
const LogTable& device_table();
const LogTable& origin_table();
const LogTable& algorithm_table();
/// Returns all tables in the order of merging.
std::span<const LogTable* const> log_tables();

/// Returns whether there is one value for every column, and each has its column's type or, if allowed, is
/// NULL.
bool has_types_of(const LogTable& table, const sqlite::Row& row);

/// Returns the persisted checksum of the values before "checksum". README.md specifies it; it never changes.
/// `values` may also include the checksum itself.
std::uint64_t row_checksum(std::span<const Column> columns, std::span<const sqlite::Value> values);

/// Returns whether the row's last value is the checksum of the values before it.
bool checksum_holds(const LogTable& table, const sqlite::Row& row);

/// Returns "SELECT id,workload,... FROM trial". If `with_seq`, `seq` is the first column.
std::string select_from(const LogTable& table, bool with_seq = false);
/// Returns "INSERT INTO trial (id,...) VALUES (?,...) ON CONFLICT(id) DO NOTHING"
std::string insert_into(const LogTable& table);

}  // namespace lehr
