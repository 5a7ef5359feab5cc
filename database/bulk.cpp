#include "database/bulk.h"

#include <fmt/core.h>

#include "database/record_codec.h"

namespace lehr {
namespace {

using sqlite::Row;
using sqlite::Statement;

// The index of the ids is met at random: with less, a million rows would read and write its pages over and
// over.
constexpr const char* kCache = "PRAGMA cache_size=-131072";  // KiB

}  // namespace

std::string why_damaged(const LogTable& table, const Row& row) {
  if (!checksum_holds(table, row)) return "its checksum is wrong";
  // A device's row may be of a target that this version does not know: it goes where its trials go.
  const bool readable = &table == &trial_table()     ? decode_record(row).has_value()
                        : &table == &verdict_table() ? decode_verdict(row).has_value()
                                                     : has_types_of(table, row);
  return readable ? "" : fmt::format("its values are no {}", table.name);
}

Bulk::Bulk(Database::Impl& impl)
    : impl_(impl), checksum_of_(impl.connection.prepare("SELECT checksum FROM trial WHERE id=?")) {
  impl.connection.execute(kCache);
  Statement rows = impl.connection.prepare("SELECT checksum FROM verdict");
  while (rows.step()) verdicts_.insert(rows.row()[0]);
}

void Bulk::add(const LogTable& table, const Row& row, AddedRows& counts) {
  const bool trial = &table == &trial_table(), verdict = &table == &verdict_table();
  RowCounts& count = trial ? counts.trials : verdict ? counts.verdicts : counts.devices;
  if (!why_damaged(table, row).empty()) {
    ++count.refused;
  } else if (trial) {
    ++(impl_.insert(table, row) ? count.added : present(row) ? count.present : count.conflicting);
  } else {
    const bool fresh = (!verdict || verdicts_.insert(row.back()).second) && impl_.insert(table, row);
    ++(fresh ? count.added : count.present);
  }
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

std::vector<AddedRows> Database::merge(std::span<const Database> others) {
  sqlite::Transaction transaction(impl_->connection);
  Bulk bulk(*impl_);
  std::vector<AddedRows> result;
  for (const Database& other : others) {
    AddedRows counts;
    for (const LogTable* table : log_tables()) {
      Statement rows =
          other.impl_->connection.prepare(select_from(*table, other.impl_->version) + " ORDER BY seq");
      while (rows.step()) bulk.add(*table, rows.row(), counts);
    }
    result.push_back(counts);
  }
  transaction.commit();
  return result;
}

}  // namespace lehr
