// Formatting.
#include "measure/core/format.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "base/text.h"

namespace lehr {
namespace {

struct TableColumn {
  std::string name;
  bool left = false;
  std::size_t width = 0;
};

/// Returns the number of characters of valid UTF-8.
std::size_t length_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

/// Narrows columns and removes the last ones until the table fits.
void fit(std::vector<TableColumn>& columns, std::size_t width) {
  // Texts up to kShort stay whole; longer ones keep at least kLeast.
  constexpr std::size_t kShort = 20, kLeast = 12;
  std::vector<std::size_t> least;
  std::size_t whole = 0, sum = 0;
  // The first left-aligned column, which distinguishes the rows.
  const auto first = std::ranges::find(columns, true, &TableColumn::left);
  for (const TableColumn& column : columns) {
    whole += column.width + 2;
    const bool is_first = first != columns.end() && &column == &*first;
    const bool cut = column.left && column.width > kShort;
    least.push_back(
        cut ? std::min(column.width, std::max(length_of(column.name), is_first ? width / 2 : kLeast))
            : column.width);
    sum += least.back() + 2;
  }
  width += 2;  // the last column has no blanks after it
  if (whole <= width) return;
  for (; sum > width && columns.size() > 1; columns.pop_back(), least.pop_back()) sum -= least.back() + 2;
  std::size_t room = width - std::min(sum, width);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::size_t more = std::min(room, columns[i].width - least[i]);
    columns[i].width = least[i] + more;
    room -= more;
  }
}

std::string line_of(const std::vector<TableColumn>& columns, const std::vector<std::string>& cells,
                    const std::function<std::string_view(std::size_t column)>& paint) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string text = cut_to(cells[i], columns[i].width);
    const std::string padding(columns[i].width - length_of(text), ' ');
    const std::string cell = painted(paint ? paint(i) : "", text);
    line += (i == 0 ? "" : "  ") + (columns[i].left ? cell + padding : padding + cell);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

}  // namespace

std::string format_table(const std::vector<std::string>& header,
                         const std::vector<std::vector<std::string>>& rows, const TableLook& look) {
  std::vector<TableColumn> columns;
  std::vector<std::string> names;
  for (const std::string& name : header) {
    const bool left = name.starts_with('<');
    names.push_back(left ? name.substr(1) : name);
    columns.push_back({names.back(), left, length_of(names.back())});
  }
  std::vector<std::vector<std::string>> shown = rows;
  for (auto& row : shown)
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = printable(row[i]);
      columns[i].width = std::max(columns[i].width, length_of(row[i]));
    }
  if (look.width > 0) fit(columns, look.width);
  std::string out = line_of(columns, names, {});
  for (std::size_t i = 0; i < shown.size(); ++i)
    out += line_of(columns, shown[i], [&](std::size_t column) {
      return look.paint ? look.paint(i, column) : std::string_view();
    });
  return out;
}

std::string cut_to(std::string text, std::size_t width) {
  constexpr std::string_view kCut = "...";
  if (width == 0 || length_of(text) <= width) return text;
  while (!text.empty() && length_of(text) + kCut.size() > width) text.pop_back();
  return text.append(kCut);
}

std::string markdown_table(const std::vector<std::string>& header,
                           const std::vector<std::vector<std::string>>& rows) {
  const auto line = [](const std::vector<std::string>& cells) {
    std::string text = "|";
    for (const std::string& cell : cells) {
      text += ' ';
      for (const char c : printable(cell)) text += c == '|' ? "\\|" : std::string(1, c);
      text += " |";
    }
    return text + '\n';
  };
  std::vector<std::string> names = header, rules;
  for (std::string& name : names) {
    rules.push_back(name.starts_with('<') ? "---" : "--:");
    if (name.starts_with('<')) name.erase(0, 1);
  }
  std::string out = line(names) + line(rules);
  for (const auto& row : rows) out += line(row);
  return out;
}

std::string csv_quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

std::string painted(std::string_view code, const std::string& text) {
  return code.empty() ? text : fmt::format("{}{}\033[0m", code, text);
}

std::string format_time_us(double us) {
  if (us <= 0) return "-";
  if (us < 1) return fmt::format("{:.0f} ns", us * 1e3);
  if (us < 100) return fmt::format("{:.2f} us", us);
  if (us < 1e4) return fmt::format("{:.1f} us", us);
  if (us < 1e6) return fmt::format("{:.2f} ms", us * 1e-3);
  return fmt::format("{:.2f} s", us * 1e-6);
}

std::string format_ratio(double ratio) {
  return ratio > 0 ? fmt::format("{:.2f}x", ratio) : "-";
}

std::string format_time_us(const Time& time) {
  if (time.us <= 0 || !time.interval.known()) return format_time_us(time.us);
  return fmt::format("{} +-{:.1f} %", format_time_us(time.us), 100 * time.interval.half_width_of(time.us));
}

std::string format_ratio(const Ratio& ratio) {
  const double width = ratio.interval.high - ratio.interval.low;
  if (ratio.value <= 0 || width <= 0) return format_ratio(ratio.value);
  return fmt::format("{} +-{:.2f}", format_ratio(ratio.value), width / 2);
}

std::string format_seconds(double seconds) {
  const auto whole = static_cast<long long>(std::llround(std::max(0.0, seconds)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} m {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} m", whole / 3600, whole / 60 % 60);
}

std::string format_date(long long unix_ms) {
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::gmtime(static_cast<std::time_t>(unix_ms / 1000)));
}

std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace lehr
