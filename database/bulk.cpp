#include "database/bulk.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "database/record_codec.h"

namespace lehr {
namespace {

using sqlite::Row;
using sqlite::Statement;

// Cache for the index of the ids, which is accessed at random. With a smaller cache, a million rows would
// read and write the index's pages again and again.
constexpr const char* kCache = "PRAGMA cache_size=-131072";  // KiB

const sqlite::Value& session_of(const LogTable& table, const Row& row) {
  return row[static_cast<std::size_t>(std::ranges::find(table.columns, "session", &Column::name) -
                                      table.columns.begin())];
}

bool is_readable(const LogTable& table, const Row& row) {
  if (&table == &trial_table()) return decode_record(row).has_value();
  if (&table == &verdict_table()) return decode_verdict(row).has_value();
  if (&table == &origin_table()) return decode_origin(row).has_value();
  if (&table == &algorithm_table()) return decode_algorithm(row).has_value();
  // A device may have a target that this version does not know. Its row is merged with its trials.
  return has_types_of(table, row);
}

RowCounts& counts_of(const LogTable& table, AddedRows& counts) {
  if (&table == &trial_table()) return counts.trials;
  if (&table == &verdict_table()) return counts.verdicts;
  if (&table == &origin_table()) return counts.origins;
  return &table == &algorithm_table() ? counts.algorithms : counts.devices;
}

}  // namespace

std::string why_damaged(const LogTable& table, const Row& row) {
  if (!checksum_holds(table, row)) return "its checksum is wrong";
  return is_readable(table, row) ? "" : fmt::format("its values are no {}", table.name);
}

Bulk::Bulk(Database::Impl& impl)
    : impl_(impl), checksum_of_(impl.connection.prepare("SELECT checksum FROM trial WHERE id=?")) {
  impl.connection.execute(kCache);
  Statement rows = impl.connection.prepare("SELECT checksum FROM verdict");
  while (rows.step()) verdicts_.insert(rows.row()[0]);
  Statement here = impl.connection.prepare(
      "SELECT session FROM trial UNION SELECT session FROM verdict UNION SELECT session FROM algorithm "
      "EXCEPT SELECT session FROM origin");
  while (here.step()) here_.insert(here.row()[0]);
}

void Bulk::add(const LogTable& table, const Row& row, AddedRows& counts) {
  const bool trial = &table == &trial_table(), verdict = &table == &verdict_table();
  RowCounts& count = counts_of(table, counts);
  if (!why_damaged(table, row).empty()) {
    ++count.refused;
    return;
  }
  // The session was run here; the other log got its rows from this log.
  if (&table == &origin_table() && here_.contains(session_of(table, row))) return;
  const bool fresh = (!verdict || verdicts_.insert(row.back()).second) && impl_.insert(table, row);
  if (fresh && (trial || verdict || &table == &algorithm_table())) added_.insert(session_of(table, row));
  ++(fresh ? count.added : !trial || present(row) ? count.present : count.conflicting);
}

void Bulk::came_from(const std::filesystem::path& path) {
  const std::int64_t now = now_unix_ms();
  for (const sqlite::Value& session : added_)
    if (!here_.contains(session))
      impl_.insert(origin_table(),
                   encode(StoredOrigin{std::get<std::string>(session), path.filename(), now}));
  added_.clear();
}

void Bulk::was_run_here() {
  here_.merge(added_);
  added_.clear();
}

bool Bulk::present(const Row& row) {
  checksum_of_.bind({&row.front(), 1});
  return checksum_of_.step() && checksum_of_.row()[0] == row.back();
}

AddedRows Database::add_rows(const std::function<bool(const LogTable*&, Row&)>& next) {
  sqlite::Transaction transaction(impl_->connection);
  Bulk bulk(*impl_);
  AddedRows counts;
  const LogTable* table = nullptr;
  for (Row row; next(table, row);) bulk.add(*table, row, counts);
  transaction.commit();
  return counts;
}

std::vector<AddedRows> Database::merge(
    const std::vector<std::filesystem::path>& others, Trust trust,
    const std::function<void(std::size_t done, const AddedRows& rows)>& on_merged) {
  sqlite::Transaction transaction(impl_->connection);
  Bulk bulk(*impl_);
  std::vector<AddedRows> result;
  for (const std::filesystem::path& path : others) {
    std::error_code ignored;
    if (std::filesystem::equivalent(path, this->path(), ignored))
      throw_user("'{}' cannot be merged into itself", path.string());
    const Database other = open_read_only(path);
    AddedRows counts;
    for (const LogTable* table : log_tables()) {
      Statement rows = other.impl_->connection.prepare(select_from(*table) + " ORDER BY seq");
      while (rows.step()) bulk.add(*table, rows.row(), counts);
    }
    if (trust == Trust::kAsRunHere)
      bulk.was_run_here();
    else
      bulk.came_from(other.path());
    result.push_back(counts);
    if (on_merged) on_merged(result.size(), counts);
  }
  transaction.commit();
  return result;
}

}  // namespace lehr
