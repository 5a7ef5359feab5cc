// Writes text tables and numbers for people.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "record/outcome.h"

namespace lehr {

/// Escape codes of a terminal.
inline constexpr std::string_view kGreen = "\033[32m", kRed = "\033[31m", kDim = "\033[2m";
/// Returns `text` between a code and the code that ends it; unchanged if the code is "".
std::string painted(std::string_view code, const std::string& text);

/// How a table looks on a terminal.
struct TableLook {
  /// Longest line that fits; 0: no limit.
  std::size_t width = 0;
  /// Returns the escape code before a cell; "": no code.
  std::function<std::string_view(std::size_t row, std::size_t column)> paint = {};
};

/// Returns a table whose columns are padded to their widest cell, with two blanks between them. A column
/// named "<..." is aligned left (without the '<'), the others right. Cells are made printable. It ends with a
/// line break; lines have no blanks at their end.
/// If the table exceeds the width, texts in left-aligned columns are cut, those of the last columns first,
/// the first such column to at most half of the width. If it still does not fit, the last columns are
/// dropped: put important columns first.
std::string format_table(const std::vector<std::string>& header,
                         const std::vector<std::vector<std::string>>& rows, const TableLook& look = {});

/// Returns the text, cut to a width with "..."; 0: unchanged.
std::string cut_to(std::string text, std::size_t width);
/// Returns the same table in Markdown.
std::string markdown_table(const std::vector<std::string>& header,
                           const std::vector<std::vector<std::string>>& rows);
/// Returns a field of a comma-separated file, in quotes if it needs them (RFC 4180).
std::string csv_quoted(const std::string& text);

/// Returns "812 ns", "12.3 us", "4.56 ms", "1.20 s" for microseconds; "-" for 0.
std::string format_time_us(double us);
/// Returns "2.31x"; "-" for 0.
std::string format_ratio(double ratio);
/// Append half the width of the 95 % interval, if it is known and not 0: "12.3 us +-1.4 %", "2.31x +-0.03".
std::string format_time_us(const Time& time);
std::string format_ratio(const Ratio& ratio);
/// Returns "59 s", "2 m 05 s", "1 h 02 m".
std::string format_seconds(double seconds);
/// Returns "2026-11-21 01:30" in UTC for milliseconds since 1970.
std::string format_date(long long unix_ms);
/// Returns `text` quoted for a POSIX shell.
std::string shell_quoted(std::string_view text);

}  // namespace lehr
