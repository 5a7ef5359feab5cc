// Small parsers for what users and databases write as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lehr {

/// Parts between `separator`s; "a,,b" gives an empty middle part; "" gives one empty part.
std::vector<std::string_view> split(std::string_view text, char separator);
/// A decimal integer and nothing else; nullopt when malformed or out of range.
std::optional<std::int64_t> parse_int(std::string_view text);
/// The sum of integers with '+' between them ("4096+1024+1024"), or one; as parse_int().
std::optional<std::int64_t> parse_sum(std::string_view text);
/// A finite number of f32 and nothing else; nullopt when malformed or out of range.
std::optional<float> parse_number(std::string_view text);
/// Its letters of ASCII in lower case, all else as it is.
std::string lower_case(std::string_view text);
/// Up to the first line break, or all of it.
std::string_view first_line(std::string_view text);
/// The closest of `known` by edit distance when it is near enough to be a slip (distance <= 2), else "".
std::string closest(std::string_view word, const std::vector<std::string>& known);

/// `text` with "?" for every control character, for what changes the direction of writing, and for bytes that
/// are no UTF-8: what comes from a file must not steer a terminal.
std::string printable(std::string_view text);
/// The same of what may have several lines, and be so long that nobody reads it: its middle is left out then.
std::string printable_lines(std::string_view text);

/// "1.5 GiB".
std::string format_bytes(double bytes);

}  // namespace lehr
