// The form of help: groups of flags, in one order, in lines of fewer than 100 characters.
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lehr {

/// The groups that commands share. Help shows them in this order, after the groups that a command names
/// itself (the problem, filters).
inline constexpr const char* kSearchGroup = "Search";
inline constexpr const char* kMeasuringGroup = "Measuring";
inline constexpr const char* kOutputGroup = "Output";

/// Returns the formatter for the root command; its subcommands inherit it.
std::shared_ptr<CLI::FormatterBase> help_formatter();

/// Adds a flag with a value, in a group of help. `name` as CLI11 spells it: "--strategy,--preset".
CLI::Option* value_flag(CLI::App& app, const char* group, const char* name, std::string& value,
                        const char* help);
/// Adds a flag without a value.
CLI::Option* switch_flag(CLI::App& app, const char* group, const char* name, bool& value, const char* help);

struct Example {
  std::string_view about;  ///< "search"; "" continues the previous line
  std::string_view command;
};
/// Returns the end of a command's help: an example for each of its groups, then a note on exit codes and the
/// like ("" for none).
std::string examples(const std::vector<Example>& lines, std::string_view note = "");

/// Returns `text` with line breaks between words, so that no line is longer than `width`, except for words
/// that are. Existing lines are kept.
std::string wrapped(std::string_view text, std::size_t width);

}  // namespace lehr
