// Recognizes the format by the file's content, not by its name.
#include "replay/read_table.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/file_kind.h"
#include "base/text_file.h"
#include "replay/formats.h"
#include "replay/python_json.h"

namespace lehr {
namespace {

using nlohmann::json;

bool is_sqlite(const std::string& path) {
  if (!kind_if_no_file(path).empty()) return false;  // if it is a pipe, bytes read here would be lost
  char head[16] = {};
  std::ifstream(path, std::ios::binary).read(head, sizeof head);
  return std::string_view(head, sizeof head) == std::string_view("SQLite format 3\0", 16);
}

// Returns the parser's message without its prefix: "[json.exception.parse_error.101] parse error at line 7,
// ...".
std::string reason_of(const json::exception& error) {
  const std::string text = error.what();
  const std::size_t end = text.find("] ");
  return end == std::string::npos ? text : text.substr(end + 2);
}

}  // namespace

Table parse_table(std::string text, const std::string& path) {
  text = without_nan(std::move(text));
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    throw_user("{} is empty; it must be a table", path);
  json document;
  std::optional<std::size_t> left_out;  // number of bytes left out of a cache that was not closed
  try {
    document = json::parse(text);
  } catch (const json::exception& error) {
    const std::string reason = reason_of(error);
    left_out = close_kernel_tuner_cache(text);
    if (left_out) document = json::parse(text, nullptr, false);
    if (!left_out || !document.is_object())
      throw_user("{} is not a whole JSON file ({}); a table is a Kernel Tuner cache or a log of lehr", path,
                 reason);
  }
  if (!document.is_object() || !document.contains("cache"))
    throw_user("{} is JSON, but no Kernel Tuner cache: it must be an object with \"cache\"", path);
  Table table = read_kernel_tuner(document, path);
  if (left_out)
    table.notes.push_back(fmt::format(
        "its writer left it open, as Kernel Tuner does while it tunes; its {} whole rows count{}",
        table.rows.size(), *left_out > 0 ? fmt::format(", {} bytes behind them do not", *left_out) : ""));
  return table;
}

std::vector<Table> read_tables(const std::string& path) {
  if (is_sqlite(path)) return read_log(path);
  return {parse_table(read_text_file(path), path)};
}

}  // namespace lehr
