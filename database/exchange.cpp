// dump and import_lines: the log as lines of JSON.
#include <fstream>
#include <set>

#include "base/error.h"
#include "database/bulk.h"
#include "database/json_lines.h"

namespace lehr {
namespace {

using sqlite::Row;
using sqlite::Statement;
using sqlite::Value;

constexpr std::size_t kMostBytes = 64 << 20;  // of a line; a row has no more (sqlite.cpp)

// False at the end of the file.
bool next_line(std::istream& file, std::string& line) {
  line.clear();
  std::streambuf& bytes = *file.rdbuf();
  for (int c = bytes.sbumpc(); c != std::char_traits<char>::eof(); c = bytes.sbumpc()) {
    if (c == '\n') return true;
    if (line.size() == kMostBytes) throw_user("it has more than {} MiB", kMostBytes >> 20);
    line += static_cast<char>(c);
  }
  return !line.empty();
}

}  // namespace

std::int64_t Database::dump(const std::function<void(std::string_view)>& line) const {
  const sqlite::Transaction one_view(impl_->connection, sqlite::Transaction::Access::kRead);
  std::int64_t left_out = 0;
  std::set<Value> verdicts;
  for (const LogTable* table : log_tables()) {
    Statement rows = impl_->connection.prepare(select_from(*table, impl_->version) + " ORDER BY seq");
    while (rows.step()) {
      const Row row = rows.row();
      if (!why_damaged(*table, row).empty()) {
        ++left_out;
      } else if (table != &verdict_table() || verdicts.insert(row.back()).second) {
        line(to_json_line(*table, row));
      }
    }
  }
  return left_out;
}

std::vector<AddedRows> Database::import_lines(std::span<const std::filesystem::path> files, Trust trust) {
  sqlite::Transaction transaction(impl_->connection);
  Bulk bulk(*impl_);
  std::vector<AddedRows> result;
  for (const std::filesystem::path& path : files) {
    std::error_code ignored;
    std::ifstream file(path, std::ios::binary);
    if (!file || std::filesystem::is_directory(path, ignored))
      throw_user("the file '{}' cannot be read; it must hold lines of lehr db dump", path.string());
    AddedRows counts;
    std::int64_t number = 0;
    for (std::string line;;) {
      ++number;
      try {
        if (!next_line(file, line)) break;
        const LogRow parsed = parse_json_line(line);
        if (const std::string problem = why_damaged(*parsed.table, parsed.row); !problem.empty())
          throw_user("{}", problem);
        bulk.add(*parsed.table, parsed.row, counts);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::kUser) throw;
        throw_user("{}, line {}: {}; nothing was imported", path.string(), number, error.what());
      }
    }
    if (trust == Trust::kAsRunHere)
      bulk.was_run_here();
    else
      bulk.came_from(log_name(path));
    result.push_back(counts);
  }
  transaction.commit();
  return result;
}

}  // namespace lehr
