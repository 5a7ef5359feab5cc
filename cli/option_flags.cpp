#include "cli/option_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/args.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/help.h"

namespace lehr {

void read_value(const std::string& flag, const std::string& text, const api::OptionRow& row, int& value) {
  value = static_cast<int>(parse_number(flag, text, row.least, row.most));
}

void read_value(const std::string& flag, const std::string& text, const api::OptionRow&,
                std::uint64_t& value) {
  value = static_cast<std::uint64_t>(parse_number(flag, text, 0, INT64_MAX));
}

void read_value(const std::string& flag, const std::string& text, const api::OptionRow&, double& seconds) {
  seconds = parse_duration(flag, text);
}

void read_value(const std::string& flag, const std::string& text, const api::OptionRow&,
                std::optional<double>& share) {
  share = parse_share(flag, text);
}

void read_value(const std::string& flag, const std::string& text, const api::OptionRow& row,
                std::optional<bool>& value) {
  const std::vector<std::string> choices = api::choices_of(row);  // the choices for unset, true and false
  const std::string choice = parse_choice(flag, text, choices);
  value = choice == choices[0] ? std::nullopt : std::optional(choice == choices[1]);
}

void read_value(const std::string& flag, const std::string& text, const api::OptionRow& row,
                std::string& value) {
  value = *row.choices == '\0' ? text : parse_choice(flag, text, api::choices_of(row));
}

/// Reads "m=1,16,64" or "m=1,16 n=8".
void read_value(const std::string& flag, const std::string& text, const api::OptionRow&, Buckets& buckets) {
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0)
      throw_user("{} {}: '{}' is no field with its sizes, such as m=1,16,64", flag, text, word);
    buckets[std::string(word.substr(0, equals))] = parse_sizes(flag, word.substr(equals + 1));
  }
}

std::string usual_text(int value) {
  return fmt::to_string(value);
}

std::string usual_text(std::uint64_t value) {
  return fmt::to_string(value);
}

std::string usual_text(double seconds) {
  return fmt::format("{}s", seconds);
}

std::string usual_text(const std::string& value) {
  return value;
}

bool OptionFlags::is_given(const std::string& flag) const {
  const auto found = options_.find(flag);
  return found != options_.end() &&
         std::ranges::any_of(found->second, [](const CLI::Option* option) { return option->count() > 0; });
}

void OptionFlags::add_switch(CLI::App& app, const std::string& flag, const api::OptionRow& row) {
  options_[flag].push_back(app.add_flag(flag, row.help)->group(row.group));
}

void OptionFlags::add_value(CLI::App& app, const std::string& flag, const api::OptionRow& row,
                            const std::string& usual) {
  std::string help = *row.choices == '\0' ? row.help : fmt::format("{}: {}", row.choices, row.help);
  const std::string value = *row.usual == '\0' ? usual : row.usual;
  if (!value.empty()) help += fmt::format(" ({})", value);
  options_[flag].push_back(value_flag(app, row.group, flag.c_str(), texts_[flag], help.c_str()));
}

}  // namespace lehr
