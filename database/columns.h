// The columns of the tables as data, and the checksum over a row of them. What columns there are follows from
// what a record, a verdict and a device hold (record_codec.cpp).
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

/// A table without `seq`, which says where a row lies and not what it says. A `Row` of the table has one
/// value per column, in this order.
struct LogTable {
  std::string_view name;
  std::span<const Column> columns;  ///< the last one is "checksum"
  std::string_view unique = "";     ///< no two rows have the same in this column; "": none is
};
const LogTable& trial_table();
const LogTable& verdict_table();
const LogTable& device_table();
const LogTable& origin_table();
const LogTable& algorithm_table();
/// All of them, in the order in which they are merged.
std::span<const LogTable* const> log_tables();

/// True if there is one value for every column, each of its column's type or, where that is allowed, NULL.
bool has_types_of(const LogTable& table, const sqlite::Row& row);

/// The persisted checksum of the values before "checksum"; specified in README.md, fixed for ever. `values`
/// may hold the checksum itself, too.
std::uint64_t row_checksum(std::span<const Column> columns, std::span<const sqlite::Value> values);

/// True if the row's last value is the checksum of those before it.
bool checksum_holds(const LogTable& table, const sqlite::Row& row);

/// "SELECT id,workload,... FROM trial", with `seq` in front where asked for.
std::string select_from(const LogTable& table, bool with_seq = false);
/// "INSERT INTO trial (id,...) VALUES (?,...) ON CONFLICT(id) DO NOTHING"
std::string insert_into(const LogTable& table);

}  // namespace lehr
