// What users write after a flag -> numbers, with one clear sentence for everything that is none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lehr {

/// That lists make together, and that `--samples` draws.
inline constexpr double kMostProblems = 10'000;
inline constexpr std::int64_t kMostSamples = 100'000;

/// A whole number in [low, high]. Throws Error(kUser) naming the flag, the value and the range.
std::int64_t parse_number(std::string_view flag, std::string_view text, std::int64_t low, std::int64_t high);

/// "64", "64,128", "1024:4096:1024" (start:end:step, the end included when it is met), "1:4", "4096+1024" (a
/// sum), or a comma list of all of these. At most 10 000 values, each in [1, 2^31). Throws as parse_number.
std::vector<std::int64_t> parse_sizes(std::string_view flag, std::string_view text);

/// Limits of a time that somebody asks for: 100 ms and 30 days.
inline constexpr double kShortestSeconds = 0.1, kLongestSeconds = 30.0 * 24 * 3600;

/// Seconds of "60s", "2m", "1h", "500ms" or "60" (seconds); within these limits. Throws as parse_number.
double parse_duration(std::string_view flag, std::string_view text);

/// A number above 0 and up to 1. Throws as parse_number.
double parse_share(std::string_view flag, std::string_view text);

/// `text` if it is one of `known`. Throws Error(kUser) with the closest of them, or all.
std::string parse_choice(std::string_view flag, std::string_view text, const std::vector<std::string>& known);

/// A comma list of choices, without repetition.
std::vector<std::string> parse_choices(std::string_view flag, std::string_view text,
                                       const std::vector<std::string>& known);

/// "a", "a and b", "a, b and c".
std::string listed(const std::vector<std::string>& names);

/// " (did you mean X?)" or "".
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

}  // namespace lehr
