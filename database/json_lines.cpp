#include "database/json_lines.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/overloaded.h"

namespace lehr {
namespace {

using nlohmann::json;
using sqlite::Row;
using sqlite::Value;

constexpr std::string_view kHex = "hex", kTable = "table", kInfinite = "inf", kMinusInfinite = "-inf";

std::string quoted(const std::string& text) {
  try {
    return json(text).dump();
  } catch (const json::type_error&) {  // no UTF-8
    std::string hex;
    for (const char c : text) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return fmt::format("{{\"{}\":\"{}\"}}", kHex, hex);
  }
}

std::optional<std::string> from_hex(std::string_view hex) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string text;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    if (digit(hex[i]) < 0 || digit(hex[i + 1]) < 0) return std::nullopt;
    text += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  }
  return text;
}

// One member of the line's object. A text in hex is already a plain text here.
struct Member {
  std::string name;
  Value value;
  bool in_hex = false;
};

// nlohmann-json's events: takes a flat object, refuses everything else before any of it is kept.
class Collector {
 public:
  std::vector<Member> members;
  std::string problem;

  bool null() { return take(std::monostate()); }
  bool boolean(bool) { return refuse("true and false are no values here"); }
  bool number_integer(std::int64_t value) { return take(value); }
  bool number_unsigned(std::uint64_t value) {
    if (std::in_range<std::int64_t>(value)) return take(static_cast<std::int64_t>(value));
    return take(static_cast<double>(value));
  }
  bool number_float(double value, const std::string&) { return take(value); }
  bool string(std::string& text) {
    if (!in_hex_) return take(std::move(text));
    std::optional<std::string> bytes = from_hex(text);
    if (!bytes || members.back().in_hex)
      return refuse("a text in hex has two digits of 0-9a-f for each byte");
    members.back().in_hex = true;
    members.back().value = std::move(*bytes);
    return true;
  }
  bool binary(json::binary_t&) { return refuse("not JSON"); }
  bool start_object(std::size_t) {
    if (!begun_) return begun_ = true;
    if (members.empty() || in_hex_) return refuse("a row has no objects inside");
    return in_hex_ = true;
  }
  bool key(std::string& name) {
    if (in_hex_) return name == kHex || refuse("an object inside a row has one member, \"hex\"");
    members.push_back({std::move(name), {}, false});
    return true;
  }
  bool end_object() {
    if (in_hex_ && !members.back().in_hex) return refuse("an object inside a row has one member, \"hex\"");
    in_hex_ = false;
    return true;
  }
  bool start_array(std::size_t) { return refuse("a row has no arrays inside"); }
  bool end_array() { return false; }
  bool parse_error(std::size_t position, const std::string&, const json::exception&) {
    return refuse(fmt::format("not JSON from its byte {} on", position));
  }

 private:
  bool take(Value value) {
    if (!begun_) return refuse("a row is an object");
    if (in_hex_) return refuse("a text in hex is a string");
    members.back().value = std::move(value);
    return true;
  }
  bool refuse(std::string why) {
    if (problem.empty()) problem = std::move(why);
    return false;
  }

  bool begun_ = false, in_hex_ = false;
};

Value typed(const Column& column, Member& member) {
  const auto wrong = [&](std::string_view wanted) {
    throw_user("'{}' must be {}{}", column.name, wanted, column.nullable ? " or null" : "");
  };
  Value& value = member.value;
  if (std::holds_alternative<std::monostate>(value)) {
    if (column.nullable) return value;
  } else if (column.type == ColumnType::kText) {
    if (std::holds_alternative<std::string>(value)) return std::move(value);
  } else if (column.type == ColumnType::kInteger) {
    if (std::holds_alternative<std::int64_t>(value)) return value;
  } else {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (const auto* real = std::get_if<double>(&value)) return *real == 0 ? 0.0 : *real;  // SQLite has no -0
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    if (const auto* text = std::get_if<std::string>(&value); text && !member.in_hex) {
      if (*text == kInfinite) return kInfinity;
      if (*text == kMinusInfinite) return -kInfinity;
    }
  }
  wrong(column.type == ColumnType::kText      ? "a text"
        : column.type == ColumnType::kInteger ? "a whole number of 64 bits"
                                              : "a number");
  return {};
}

const LogTable& table_of(const std::vector<Member>& members) {
  for (const Member& member : members) {
    if (member.name != kTable) continue;
    const auto* name = std::get_if<std::string>(&member.value);
    std::string known;
    for (const LogTable* table : log_tables()) {
      if (name && *name == table->name) return *table;
      known += fmt::format("{}\"{}\"", known.empty() ? "" : " or ", table->name);
    }
    throw_user("\"table\" must be {}", known);
  }
  throw_user("\"table\" is missing");
}

}  // namespace

std::string to_json_line(const LogTable& table, const Row& row) {
  CHECK(row.size() == table.columns.size());
  std::string line = fmt::format("{{\"{}\":\"{}\"", kTable, table.name);
  for (std::size_t i = 0; i < row.size(); ++i) {
    line += fmt::format(",\"{}\":", table.columns[i].name);
    std::visit(overloaded{
                   [&](std::monostate) { line += "null"; },
                   [&](std::int64_t x) { line += fmt::format("{}", x); },
                   [&](double x) {
                     // fmt writes the shortest text that reads back the same
                     line += std::isinf(x) ? fmt::format("\"{}\"", x > 0 ? kInfinite : kMinusInfinite)
                                           : fmt::format("{}", x);
                   },
                   [&](const std::string& x) { line += quoted(x); },
               },
               row[i]);
  }
  return line + "}";
}

LogRow parse_json_line(std::string_view line) {
  Collector collector;
  if (!json::sax_parse(line.begin(), line.end(), &collector))
    throw_user("{}", collector.problem.empty() ? "not JSON" : collector.problem);
  const LogTable& table = table_of(collector.members);
  LogRow result{&table, Row(table.columns.size())};
  std::vector<bool> there(table.columns.size());
  bool named = false;
  for (Member& member : collector.members) {
    if (member.name == kTable && !std::exchange(named, true)) continue;
    std::size_t at = 0;
    while (at < there.size() && table.columns[at].name != member.name) ++at;
    // The name is a stranger's: shown only as far as it is a name at all.
    if (at == there.size())
      throw_user("a {} has no column {}", table.name,
                 json(member.name.substr(0, 40)).dump(-1, ' ', true, json::error_handler_t::replace));
    if (there[at]) throw_user("'{}' is there twice", table.columns[at].name);
    there[at] = true;
    result.row[at] = typed(table.columns[at], member);
  }
  for (std::size_t at = 0; at < there.size(); ++at)
    if (!there[at] && table.columns[at].since == 1) throw_user("'{}' is missing", table.columns[at].name);
  return result;
}

}  // namespace lehr
