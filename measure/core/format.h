// Text tables and numbers as people read them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "measure/core/outcome.h"

namespace lehr {

/// Columns padded to their widest cell, two blanks between them; a column named "<..." is aligned left
/// (without the '<'), the others right; cells are made printable. Ends with a line break; no blanks at line
/// ends.
std::string format_table(const std::vector<std::string>& header,
                         const std::vector<std::vector<std::string>>& rows);

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
