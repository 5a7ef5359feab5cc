// Tells the formats apart by what is in the file, whatever it is called.
#include "replay/read_table.h"

#include <algorithm>
#include <fstream>
#include <optional>

#include "base/error.h"
#include "base/file_kind.h"
#include "base/text.h"
#include "base/text_file.h"
#include "replay/formats.h"
#include "replay/python_json.h"

namespace lehr {
namespace {

using nlohmann::json;

bool is_sqlite(const std::string& path) {
  if (!kind_if_no_file(path).empty()) return false;  // what is read of a pipe here is gone
  char head[16] = {};
  std::ifstream(path, std::ios::binary).read(head, sizeof head);
  return std::string_view(head, sizeof head) == std::string_view("SQLite format 3\0", 16);
}

// The parser's own words without its prefix: "[json.exception.parse_error.101] parse error at line 7, ...".
std::string reason_of(const json::exception& error) {
  const std::string text = error.what();
  const std::size_t end = text.find("] ");
  return end == std::string::npos ? text : text.substr(end + 2);
}

/// "XML", "CSV" or "", by how the text begins.
std::string_view other_format(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  if (text.starts_with('<')) return "XML";
  const std::string_view line = first_line(text);
  const bool cells = std::ranges::count(line, ';') >= 2 || std::ranges::count(line, ',') >= 2;
  return cells && !text.starts_with('{') && !text.starts_with('[') ? "CSV" : "";
}

}  // namespace

std::vector<Table> parse_tables(std::string text, const std::string& path) {
  text = without_nan(std::move(text));
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    throw_user("{} is empty; it must be a table", path);
  if (const std::string_view format = other_format(text); !format.empty())
    throw_user("{} is {}: of KTT's results the JSON is read (ktt::OutputFormat::JSON in Tuner::SaveResults)",
               path, format);
  json document;
  std::optional<std::size_t> left_out;  // bytes, of a cache that is closed here
  try {
    document = json::parse(text);
  } catch (const json::exception& error) {
    const std::string reason = reason_of(error);
    left_out = close_kernel_tuner_cache(text);
    if (left_out) document = json::parse(text, nullptr, false);
    if (!left_out || !document.is_object())
      throw_user(
          "{} is not a whole JSON file ({}); a table is a Kernel Tuner cache, KTT or T4 results, or a log of "
          "lehr",
          path, reason);
  }
  if (!document.is_object())
    throw_user("{} is JSON, but no table: it must be an object with \"cache\", \"Results\" or \"results\"",
               path);
  std::vector<Table> tables;
  if (document.contains("cache")) {
    tables.push_back(read_kernel_tuner(document, path));
  } else if (document.contains("Results")) {
    tables = read_ktt(document, path);
  } else if (document.contains("results")) {
    tables.push_back(read_t4(document, path));
  } else {
    throw_user(
        "{} is JSON, but no table that is known: \"cache\" (Kernel Tuner), \"Results\" (KTT) or \"results\" "
        "(T4) "
        "is missing",
        path);
  }
  if (left_out)
    tables[0].notes.push_back(fmt::format(
        "its writer left it open, as Kernel Tuner does while it tunes; its {} whole rows count{}",
        tables[0].rows.size(), *left_out > 0 ? fmt::format(", {} bytes behind them do not", *left_out) : ""));
  return tables;
}

std::vector<Table> read_tables(const std::string& path) {
  if (is_sqlite(path)) return read_log(path);
  return parse_tables(read_text_file(path), path);
}

}  // namespace lehr
