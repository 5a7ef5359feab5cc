// Parses what users write after a flag. Every malformed value gives one clear sentence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lehr {

/// Maximum number of problems that the lists of a command line may make together, and maximum of `--samples`.
inline constexpr double kMostProblems = 10'000;
inline constexpr std::int64_t kMostSamples = 100'000;

/// Parses a whole number in [low, high]. Throws Error(kUser) with a message that names the flag, the value
/// and the range.
std::int64_t parse_number(std::string_view flag, std::string_view text, std::int64_t low, std::int64_t high);

/// Parses "64", "64,128", "1024:4096:1024" (start:end:step; the end is included if a step meets it), "1:4",
/// "4096+1024" (a sum), or a comma-separated list of these. Returns at most 10 000 values, each in [1, 2^31).
/// Throws as parse_number() does.
std::vector<std::int64_t> parse_sizes(std::string_view flag, std::string_view text);

/// Limits of a duration that a user gives: 100 ms and 30 days.
inline constexpr double kShortestSeconds = 0.1, kLongestSeconds = 30.0 * 24 * 3600;

/// Parses "60s", "2m", "1h", "500ms" or "60" (seconds), within the limits above. Returns seconds. Throws as
/// parse_number() does.
double parse_duration(std::string_view flag, std::string_view text);

/// Parses a number above 0 and up to 1. Throws as parse_number() does.
double parse_share(std::string_view flag, std::string_view text);

/// Returns `text` if it is one of `known`. Otherwise throws Error(kUser) with a message that names the
/// closest known word, or all of them.
std::string parse_choice(std::string_view flag, std::string_view text, const std::vector<std::string>& known);

/// Parses a comma-separated list of choices without repetitions.
std::vector<std::string> parse_choices(std::string_view flag, std::string_view text,
                                       const std::vector<std::string>& known);

/// Joins names: "a", "a and b", "a, b and c".
std::string listed(const std::vector<std::string>& names);

/// Returns " (did you mean X?)" or "".
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

}  // namespace lehr
