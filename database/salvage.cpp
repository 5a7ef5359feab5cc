#include "database/salvage.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <optional>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "database/page_file.h"
#include "database/schema.h"

namespace lehr {
namespace {

using sqlite::Row;
using sqlite::Value;

// Converts a stored row, which begins with NULL for `seq`, to a row of the table.
std::optional<Row> as_row_of(const LogTable& table, const Row& stored) {
  if (stored.size() != table.columns.size() + 1 || !std::holds_alternative<std::monostate>(stored[0]))
    return std::nullopt;
  Row row(stored.begin() + 1, stored.end());
  for (std::size_t i = 0; i < row.size(); ++i)
    if (const auto* whole = std::get_if<std::int64_t>(&row[i]);
        whole && table.columns[i].type == ColumnType::kReal)
      row[i] = static_cast<double>(*whole);
  return has_types_of(table, row) ? std::optional(std::move(row)) : std::nullopt;
}

struct Found {
  const LogTable* table;
  CellPlace place;
};

/// Throws Error(kUser) if the file's header names another schema version, whose rows this version cannot
/// read. If it does not, throws Error(kNotFound).
[[noreturn]] void throw_nothing(const std::filesystem::path& torn) {
  // Offsets of the header, big-endian: https://www.sqlite.org/fileformat2.html#the_database_header
  constexpr std::size_t kUserVersion = 60, kApplicationIdAt = 68;
  std::array<char, 100> header{};
  std::ifstream(torn, std::ios::binary).read(header.data(), header.size());
  const auto number_at = [&](std::size_t at) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < 4; ++i) number = number << 8 | static_cast<unsigned char>(header[at + i]);
    return number;
  };
  if (number_at(kApplicationIdAt) == kApplicationId && number_at(kUserVersion) != kSchemaVersion)
    throw_other_version(torn.string(), number_at(kUserVersion));
  throw_not_found("'{}' holds no sound row of a Lehr database", torn.string());
}

}  // namespace

AddedRows salvage(const std::filesystem::path& torn, const std::filesystem::path& fresh) {
  std::error_code ignored;
  if (std::filesystem::exists(fresh, ignored))
    throw_user("'{}' exists; name a file that does not", fresh.string());
  PageFile pages(torn);
  std::vector<CellPlace> places;
  pages.cells([&](const CellPlace& place) { places.push_back(place); });
  std::vector<Found> found;
  for (const CellPlace& place : places) {
    const std::optional<Row> stored = pages.row_at(place);
    if (!stored) continue;
    for (const LogTable* table : log_tables())
      if (as_row_of(*table, *stored)) found.push_back({table, place});
  }
  if (found.empty()) throw_nothing(torn);
  std::ranges::stable_sort(found, {}, [](const Found& each) {
    return std::tuple(std::ranges::find(log_tables(), each.table), each.place.rowid);
  });

  AddedRows counts;
  {
    Database database = Database::open(fresh);
    auto next = found.begin();
    counts = database.add_rows([&](const LogTable*& table, Row& row) {
      if (next == found.end()) return false;
      table = next->table;
      row = as_row_of(*table, *pages.row_at(next->place)).value();
      ++next;
      return true;
    });
  }
  if (counts.trials.added + counts.verdicts.added == 0) {
    std::filesystem::remove(fresh, ignored);
    throw_nothing(torn);
  }
  return counts;
}

}  // namespace lehr
