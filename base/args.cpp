// Parsers of flag values.
#include "base/args.h"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/text.h"

namespace lehr {
namespace {

constexpr std::int64_t kLargestSize = (std::int64_t{1} << 31) - 1;
constexpr std::size_t kMostSizes = 10'000;

/// Returns the seconds of a unit of time; 0 for an unknown one.
double seconds_of(std::string_view unit) {
  if (unit == "ms") return 1e-3;
  if (unit.empty() || unit == "s") return 1;
  if (unit == "m" || unit == "min") return 60;
  return unit == "h" ? 3600 : 0;
}

}  // namespace

namespace {

std::int64_t in_range(std::string_view flag, std::string_view text, std::optional<std::int64_t> value,
                      std::int64_t low, std::int64_t high) {
  if (!value || *value < low || *value > high)
    throw_user("{} {} is not valid: it must be a whole number from {} to {}", flag,
               text.empty() ? "''" : text, low, high);
  return *value;
}

}  // namespace

std::int64_t parse_number(std::string_view flag, std::string_view text, std::int64_t low, std::int64_t high) {
  return in_range(flag, text, parse_int(text), low, high);
}

std::vector<std::int64_t> parse_sizes(std::string_view flag, std::string_view text) {
  std::vector<std::int64_t> sizes;
  const auto add = [&](std::int64_t size) {
    if (sizes.size() == kMostSizes) throw_user("{} {} has more than {} values", flag, text, kMostSizes);
    sizes.push_back(size);
  };
  for (const std::string_view part : split(text, ',')) {
    const std::vector<std::string_view> range = split(part, ':');
    if (range.size() > 3)
      throw_user("{} {} is not valid: a range is start:end or start:end:step", flag, part);
    if (range.size() == 1) {
      add(in_range(flag, part, parse_sum(part), 1, kLargestSize));
      continue;
    }
    const std::int64_t start = parse_number(flag, range[0], 1, kLargestSize);
    const std::int64_t end = parse_number(flag, range[1], 1, kLargestSize);
    const std::int64_t step = range.size() == 3 ? parse_number(flag, range[2], 1, kLargestSize) : 1;
    if (end < start) throw_user("{} {} is not valid: the range ends before it starts", flag, part);
    for (std::int64_t size = start; size <= end; size += step) add(size);
  }
  return sizes;
}

double parse_duration(std::string_view flag, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const double scale = seconds_of(unit);
  const double seconds = value * scale;
  if (error != std::errc() || scale == 0 || !(seconds >= kShortestSeconds && seconds <= kLongestSeconds))
    throw_user("{} {} is not valid: write a time from 100ms to 720h, such as 500ms, 60s, 2m or 1h", flag,
               text.empty() ? "''" : text);
  return seconds;
}

double parse_share(std::string_view flag, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0) || value > 1)
    throw_user("{} {} is not valid: write a number above 0 and up to 1, such as 1e-4", flag,
               text.empty() ? "''" : text);
  return value;
}

std::string listed(const std::vector<std::string>& names) {
  if (names.size() < 2) return names.empty() ? "" : names[0];
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  const std::string near = closest(word, known);
  return near.empty() ? "" : fmt::format(" (did you mean {}?)", near);
}

std::string parse_choice(std::string_view flag, std::string_view text,
                         const std::vector<std::string>& known) {
  if (std::ranges::find(known, text) == known.end())
    throw_user("{} {} is not known{}: it must be one of {}", flag, text.empty() ? "''" : text,
               suggestion(text, known), fmt::join(known, ", "));
  return std::string(text);
}

std::vector<std::string> parse_choices(std::string_view flag, std::string_view text,
                                       const std::vector<std::string>& known) {
  std::vector<std::string> choices;
  for (const std::string_view part : split(text, ',')) {
    std::string choice = parse_choice(flag, part, known);
    if (std::ranges::find(choices, choice) == choices.end()) choices.push_back(std::move(choice));
  }
  return choices;
}

}  // namespace lehr
