// Writes text tables and numbers for users.
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
/// Returns `text` between the escape code `code` and the code that ends it. If `code` is "", returns `text`
/// unchanged.
std::string painted(std::string_view code, const std::string& text);

/// How a table looks on a terminal.
struct TableLook {
  /// Longest line that fits; 0: no limit.
  std::size_t width = 0;
  /// Returns the escape code before a cell; "": no code.
  std::function<std::string_view(std::size_t row, std::size_t column)> paint = {};
};

/// Returns a table whose columns are padded to their widest cell, with two blanks between columns. A column
/// with a header "<NAME" is aligned left (the '<' is not written); all other columns are aligned right. Cells
/// are made printable. The table ends with a line break; lines have no blanks at their end.
/// If the table exceeds the width, texts in left-aligned columns are cut, beginning with the last column; the
/// first left-aligned column is cut to at most half of the width. If the table still does not fit, the last
/// columns are dropped, so put important columns first.
std::string format_table(const std::vector<std::string>& header,
                         const std::vector<std::vector<std::string>>& rows, const TableLook& look = {});

/// Returns the text, cut to `width` with "..." at the end; width 0: the text is not cut.
std::string cut_to(std::string text, std::size_t width);
/// Returns a table in Markdown. `header` and `rows` have the same meaning as in format_table().
std::string markdown_table(const std::vector<std::string>& header,
                           const std::vector<std::vector<std::string>>& rows);
/// Returns a field of a comma-separated file, in quotes if the field needs them (RFC 4180).
std::string csv_quoted(const std::string& text);

/// Returns a time in microseconds as "812 ns", "12.3 us", "4.56 ms" or "1.20 s"; "-" for 0.
std::string format_time_us(double us);
/// Returns "2.31x"; "-" for 0.
std::string format_ratio(double ratio);
/// Return the same texts, followed by half the width of the 95 % interval if the interval is known and not 0:
/// "12.3 us +-1.4 %", "2.31x +-0.03".
std::string format_time_us(const Time& time);
std::string format_ratio(const Ratio& ratio);
/// Returns "59 s", "2 m 05 s", "1 h 02 m".
std::string format_seconds(double seconds);
/// Returns "2026-11-21 01:30" in UTC for milliseconds since 1970.
std::string format_date(long long unix_ms);
/// Returns `text` quoted for a POSIX shell.
std::string shell_quoted(std::string_view text);

}  // namespace lehr
