// Formatting.
#include "cli/table.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>

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

/// A character of UTF-8 at the start of a text.
struct Character {
  std::optional<std::uint32_t> code;  ///< nullopt: a byte that is none
  std::size_t bytes = 1;
};

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0xFFu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return {};
  return {code, bytes};
}

/// Control characters (C0, DEL, C1: ECMA-48), separators of lines, and what changes the direction of writing
/// (UAX #9).
bool steers(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x61C || code == 0x200E || code == 0x200F ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const Character next = first_character(text);
    shown += next.code && !steers(*next.code) ? std::string(text.substr(0, next.bytes)) : "?";
    text.remove_prefix(next.bytes);
  }
  return shown;
}

std::string printable_lines(std::string_view text) {
  constexpr std::size_t kMost = 4000, kEnds = 1500;
  std::string shown;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    shown += (begin > 0 ? "\n" : "") + printable(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (shown.size() <= kMost) return shown;
  const auto start_of_character = [&](std::size_t at) {
    while ((static_cast<unsigned char>(shown[at]) & 0xC0) == 0x80) --at;
    return at;
  };
  const std::size_t first = start_of_character(kEnds), last = start_of_character(shown.size() - kEnds);
  return fmt::format("{} ... ({} bytes left out) ... {}", shown.substr(0, first), last - first,
                     shown.substr(last));
}

void print_json(const nlohmann::json& document) {
  fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

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
