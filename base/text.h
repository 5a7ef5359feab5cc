// Small parsers for texts that users and databases write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lehr {

/// Returns the pieces between `separator`s. "a,,b" has an empty piece in the middle; "" gives one empty
/// piece.
std::vector<std::string_view> split(std::string_view text, char separator);
/// Parses a decimal integer and nothing else. Returns nullopt when malformed or out of range.
std::optional<std::int64_t> parse_int(std::string_view text);
/// Parses one integer or a sum such as "4096+1024+1024", and returns its value. Returns nullopt as
/// parse_int() does.
std::optional<std::int64_t> parse_sum(std::string_view text);
/// Parses a finite f32 and nothing else. Returns nullopt when malformed or out of range.
std::optional<float> parse_number(std::string_view text);
/// Returns `text` with ASCII letters in lower case.
std::string lower_case(std::string_view text);
/// Returns `text` up to the first line break.
std::string_view first_line(std::string_view text);
/// Returns the word of `known` with the smallest edit distance to `word`, if that may be a typing error
/// (distance <= 2); otherwise "".
std::string closest(std::string_view word, const std::vector<std::string>& known);

/// Returns `text` with "?" in place of control characters, of characters that change the direction of
/// writing, and of bytes that are not UTF-8. Otherwise a text from a file could control the terminal.
std::string printable(std::string_view text);
/// Does the same for a text that may have several lines. Omits the middle of a very long text.
std::string printable_lines(std::string_view text);

/// Returns e.g. "1.5 GiB".
std::string format_bytes(double bytes);

}  // namespace lehr
