// The commands and their flags as data, read from CLI11's tree: completions, the manual and suggestions are
// made from it.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace lehr {

struct Flag {
  std::vector<std::string> names;  ///< "--time", "-V"
  bool takes_value = false;
  std::vector<std::string> choices;  ///< the words at the start of its help, "auto | json | none"
  bool takes_file = false;           ///< whether a value may be a file, by the help
  std::string about;
};

/// Returns the flags that help shows, including those of the parents that a command takes, too (fall
/// through).
std::vector<Flag> flags_of(const CLI::App& app);
std::vector<const CLI::App*> subcommands_of(const CLI::App& app);
/// Finds a subcommand by its name; nullptr where no one has it.
const CLI::App* subcommand_of(const CLI::App& app, const std::string& name);
/// Returns the command and all below it, each before its subcommands.
std::vector<const CLI::App*> commands_of(const CLI::App& root);
/// Returns "lehr tune gemm".
std::string path_of(const CLI::App& app);
/// Returns the words that a command takes besides flags: its subcommands, and choices of its arguments.
std::vector<std::string> words_of(const CLI::App& app);

}  // namespace lehr
