// Text tables and numbers as people read them.
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
/// `text` between a code and the end of what it does; as it is where the code is "".
std::string painted(std::string_view code, const std::string& text);

/// How a table looks on a terminal.
struct TableLook {
  /// The longest line that fits; 0: any does.
  std::size_t width = 0;
  /// The escape code that a cell begins with; "": none.
  std::function<std::string_view(std::size_t row, std::size_t column)> paint = {};
};

/// Columns padded to their widest cell, two blanks between them; a column named "<..." is aligned left
/// (without the '<'), the others right; cells are made printable. Ends with a line break; no blanks at line
/// ends. Where a width does not hold it, texts of columns that are aligned left are cut, those of the last
/// columns first, the first such column's to half of the width at most, and what has no room then are the
/// last columns: the more important one stands before.
std::string format_table(const std::vector<std::string>& header,
                         const std::vector<std::vector<std::string>>& rows, const TableLook& look = {});

/// The text, with "..." for what is longer than a width; 0: as it is.
std::string cut_to(std::string text, std::size_t width);
/// The same table in Markdown.
std::string markdown_table(const std::vector<std::string>& header,
                           const std::vector<std::vector<std::string>>& rows);
/// A field of a comma-separated file, in quotes where it needs them (RFC 4180).
std::string csv_quoted(const std::string& text);

/// "812 ns", "12.3 us", "4.56 ms", "1.20 s" of microseconds; "-" for 0.
std::string format_time_us(double us);
/// "2.31x"; "-" for 0.
std::string format_ratio(double ratio);
/// The same with half the width of its 95 % interval, where that is known and has one: "12.3 us +-1.4 %",
/// "2.31x +-0.03".
std::string format_time_us(const Time& time);
std::string format_ratio(const Ratio& ratio);
/// "59 s", "2 m 05 s", "1 h 02 m".
std::string format_seconds(double seconds);
/// "2026-11-21 01:30" in UTC of milliseconds since 1970.
std::string format_date(long long unix_ms);
/// `text` quoted for a POSIX shell.
std::string shell_quoted(std::string_view text);

}  // namespace lehr
