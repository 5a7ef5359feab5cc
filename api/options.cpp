#include "api/options.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <type_traits>

#include "base/args.h"
#include "base/error.h"
#include "base/text.h"

namespace lehr::api {
namespace {

void check_number(const std::string& flag, auto value, auto least, auto most) {
  if (!(value >= least && value <= most))
    throw_user("{} {} is not valid: it must be a {} from {} to {}", flag, value,
               std::is_integral_v<decltype(value)> ? "whole number" : "number", least, most);
}

/// Collects the flags that do not follow from their member's name by replacing underscores with dashes.
class OtherNames {
 public:
  void operator()(const std::string& member, const auto& value, const OptionRow& row) {
    bool is_on = false;
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, bool>) is_on = value;
    members[flag_of(member, row, is_on)] = member;
  }
  std::map<std::string, std::string> members = {
      {"--dim", "dims"}, {"--input", "inputs"}, {"--scratch", "tools.scratch"}};
};

std::map<std::string, std::string> members_of_flags() {
  OtherNames names;
  const std::tuple<DeviceOptions, TuneOptions, ExportOptions, ApplyOptions, OptimizeOptions> all;
  std::apply([&](const auto&... each) { (describe(names, each), ...); }, all);
  return names.members;
}

}  // namespace

std::string flag_of(std::string_view member, const OptionRow& row, bool is_on) {
  if (*row.flag != '\0') return row.flag;
  if (member.ends_with("_s")) member.remove_suffix(2);
  std::string flag = (is_on ? "--no-" : "--") + std::string(member);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

std::vector<std::string> choices_of(const OptionRow& row) {
  std::vector<std::string> words;
  for (const std::string_view word : split(row.choices, ' '))
    if (word != "|" && !word.empty()) words.emplace_back(word);
  return words;
}

void Checker::operator()(std::string_view member, int value, const OptionRow& row) const {
  if (value == 0 && *row.usual != '\0') return;
  check_number(flag_of(member, row), std::int64_t{value}, row.least, row.most);
}

void Checker::operator()(std::string_view member, double value, const OptionRow& row) const {
  if (value == 0 && *row.usual != '\0') return;
  check_number(flag_of(member, row), value, kShortestSeconds, kLongestSeconds);
}

void Checker::operator()(std::string_view member, const std::optional<double>& value,
                         const OptionRow& row) const {
  if (value) check_number(flag_of(member, row), *value, 0.0, 1.0);
}

void Checker::operator()(std::string_view member, const std::string& value, const OptionRow& row) const {
  if (*row.choices != '\0') parse_choice(flag_of(member, row), value, choices_of(row));
}

std::string with_members(const std::string& sentence) {
  static const std::map<std::string, std::string> members = members_of_flags();
  std::string text;
  bool in_command = false;
  for (std::size_t i = 0; i < sentence.size();) {
    const std::string_view rest = std::string_view(sentence).substr(i);
    if (rest.starts_with("lehr ")) in_command = true;
    if (std::string_view(";:,)`").find(rest[0]) != std::string_view::npos) in_command = false;
    const bool begins_word = i == 0 || sentence[i - 1] == ' ' || sentence[i - 1] == '(';
    const std::size_t size = std::min(rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), rest.size());
    const auto found =
        in_command || !begins_word ? members.end() : members.find(std::string(rest.substr(0, size)));
    if (found == members.end()) {
      text += rest[0];
      ++i;
      continue;
    }
    text += found->second;
    i += size;
  }
  return text;
}

}  // namespace lehr::api
