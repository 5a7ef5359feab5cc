// Parses what users write after a flag. Every malformed value gives one clear sentence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lehr {

/// Most problems that the lists of a command line make together, and the most that `--samples` draws.
inline constexpr double kMostProblems = 10'000;
inline constexpr std::int64_t kMostSamples = 100'000;

/// Parses a whole number in [low, high]. Throws Error(kUser) naming the flag, the value and the range.
std::int64_t parse_number(std::string_view flag, std::string_view text, std::int64_t low, std::int64_t high);

/// Parses "64", "64,128", "1024:4096:1024" (start:end:step, the end included when it is met), "1:4",
/// "4096+1024" (a sum), or a comma list of all of these. Returns at most 10 000 values, each in [1, 2^31).
/// Throws as parse_number.
std::vector<std::int64_t> parse_sizes(std::string_view flag, std::string_view text);

/// Limits of a duration that a user gives: 100 ms and 30 days.
inline constexpr double kShortestSeconds = 0.1, kLongestSeconds = 30.0 * 24 * 3600;

/// Parses "60s", "2m", "1h", "500ms" or "60" (seconds) within these limits. Returns seconds. Throws as
/// parse_number.
double parse_duration(std::string_view flag, std::string_view text);

/// Parses a number above 0 and up to 1. Throws as parse_number.
double parse_share(std::string_view flag, std::string_view text);

/// Returns `text` if it is one of `known`. Throws Error(kUser) with the closest known word, or with all of
/// them.
std::string parse_choice(std::string_view flag, std::string_view text, const std::vector<std::string>& known);

/// Parses a comma list of choices without repetition.
std::vector<std::string> parse_choices(std::string_view flag, std::string_view text,
                                       const std::vector<std::string>& known);

/// Joins names: "a", "a and b", "a, b and c".
std::string listed(const std::vector<std::string>& names);

/// Returns " (did you mean X?)" or "".
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

}  // namespace lehr
