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

void append_row(std::string& out, const std::vector<std::string>& cells,
                const std::vector<std::size_t>& widths, const std::vector<bool>& left) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string padding(widths[i] - std::min(widths[i], cells[i].size()), ' ');
    const std::string& cell = cells[i];
    line += (i == 0 ? "" : "  ") + (left[i] ? cell + padding : padding + cell);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + '\n';
}

}  // namespace

std::string format_table(const std::vector<std::string>& header,
                         const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::string> names;
  std::vector<bool> left;
  std::vector<std::size_t> widths;
  for (const std::string& name : header) {
    left.push_back(name.starts_with('<'));
    names.push_back(left.back() ? name.substr(1) : name);
    widths.push_back(names.back().size());
  }
  std::vector<std::vector<std::string>> shown = rows;
  for (auto& row : shown)
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = printable(row[i]);
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::string out;
  append_row(out, names, widths, left);
  for (const auto& row : shown) append_row(out, row, widths, left);
  return out;
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
