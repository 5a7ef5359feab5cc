// How help looks: groups of flags, in one order, in lines of fewer than 100 characters.
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lehr {

/// The groups that commands share; help shows them in this order, behind those that a command names itself
/// (the problem, filters).
inline constexpr const char* kSearchGroup = "Search";
inline constexpr const char* kMeasuringGroup = "Measuring";
inline constexpr const char* kOutputGroup = "Output";

/// For the root command; its subcommands take it over.
std::shared_ptr<CLI::FormatterBase> help_formatter();

/// A flag with a value, in a group of help. `name` as CLI11 spells it: "--strategy,--preset".
CLI::Option* value_flag(CLI::App& app, const char* group, const char* name, std::string& value,
                        const char* help);
/// A flag without one.
CLI::Option* switch_flag(CLI::App& app, const char* group, const char* name, bool& value, const char* help);

struct Example {
  std::string_view about;  ///< "search"; "" goes on with the line before
  std::string_view command;
};
/// The end of a command's help: an example for each group that it names, then a note on exit codes and the
/// like ("" for none).
std::string examples(const std::vector<Example>& lines, std::string_view note = "");

/// `text` with line breaks between words, so that no line of it is longer than `width`, but for words that
/// are. Lines that are in it stay.
std::string wrapped(std::string_view text, std::size_t width);

}  // namespace lehr
