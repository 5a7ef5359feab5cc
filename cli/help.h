// Formats help: groups of flags in a fixed order, and lines of fewer than 100 characters.
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lehr {

/// Groups of flags that several commands have. Help shows them in this order, after the groups that only one
/// command has (the problem, filters).
inline constexpr const char* kSearchGroup = "Search";
inline constexpr const char* kMeasuringGroup = "Measuring";
inline constexpr const char* kOutputGroup = "Output";

/// Returns the formatter for the root command; its subcommands inherit it.
std::shared_ptr<CLI::FormatterBase> help_formatter();

/// Adds a flag with a value to a group of help. `name` is written as for CLI11: "--strategy,--preset".
CLI::Option* value_flag(CLI::App& app, const char* group, const char* name, std::string& value,
                        const char* help);
/// Adds a flag without a value.
CLI::Option* switch_flag(CLI::App& app, const char* group, const char* name, bool& value, const char* help);

struct Example {
  std::string_view about;  ///< name of the group, such as "search"; "" continues the previous example
  std::string_view command;
};
/// Returns the end of a command's help: the examples, then a note, for example on exit codes ("": no note).
std::string examples(const std::vector<Example>& lines, std::string_view note = "");

/// Returns `text` with line breaks between words, so that no line is longer than `width` unless a single word
/// is longer. Existing line breaks are kept.
std::string wrapped(std::string_view text, std::size_t width);

}  // namespace lehr
