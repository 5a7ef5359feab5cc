#include "database/columns.h"

#include <array>
#include <bit>
#include <charconv>
#include <string>

#include "base/error.h"
#include "base/hash.h"
#include "base/overloaded.h"

namespace lehr {
namespace {

using sqlite::Row;
using sqlite::Value;

void append_integer(std::string& text, std::int64_t value) {
  std::array<char, 24> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text.append(digits.data(), end);
}

void append_bits(std::string& text, double value) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[bits >> shift & 15];
}

}  // namespace

bool has_types_of(const LogTable& table, const Row& row) {
  if (row.size() != table.columns.size()) return false;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const Column& column = table.columns[i];
    const bool fits = std::visit(overloaded{
                                     [&](std::monostate) { return column.nullable; },
                                     [&](std::int64_t) { return column.type == ColumnType::kInteger; },
                                     [&](double) { return column.type == ColumnType::kReal; },
                                     [&](const std::string&) { return column.type == ColumnType::kText; },
                                 },
                                 row[i]);
    if (!fits) return false;
  }
  return true;
}

std::uint64_t row_checksum(std::span<const Column> columns, std::span<const Value> values) {
  CHECK(columns.size() <= values.size());
  std::string text;
  text.reserve(2048);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    text.append(columns[i].name) += '=';
    std::visit(overloaded{
                   [&](std::monostate) { text += "null"; },
                   [&](std::int64_t x) { append_integer(text += 'i', x); },
                   [&](double x) { append_bits(text += 'r', x); },
                   [&](const std::string& x) {
                     append_integer(text += 't', static_cast<std::int64_t>(x.size()));
                     (text += ':') += x;
                   },
               },
               values[i]);
    text += '\n';
  }
  return stable_hash(text);
}

bool checksum_holds(const LogTable& table, const Row& row) {
  if (row.size() != table.columns.size()) return false;
  const auto* stored = std::get_if<std::int64_t>(&row.back());
  return stored != nullptr && std::bit_cast<std::uint64_t>(*stored) ==
                                  row_checksum(table.columns.first(table.columns.size() - 1), row);
}

std::string select_from(const LogTable& table, bool with_seq) {
  std::string names = with_seq ? "seq" : "";
  for (const Column& column : table.columns) {
    if (!names.empty()) names += ',';
    names += column.name;
  }
  return fmt::format("SELECT {} FROM {}", names, table.name);
}

std::string insert_into(const LogTable& table) {
  std::string names, marks;
  for (const Column& column : table.columns) {
    names += names.empty() ? "" : ",";
    names += column.name;
    marks += marks.empty() ? "?" : ",?";
  }
  const std::string twice =
      table.unique.empty() ? "" : fmt::format(" ON CONFLICT({}) DO NOTHING", table.unique);
  return fmt::format("INSERT INTO {} ({}) VALUES ({}){}", table.name, names, marks, twice);
}

}  // namespace lehr
