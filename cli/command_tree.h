// The commands and their flags as data, read from CLI11's tree. Completions, the manual and suggestions are
// made from this data.
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
  std::vector<std::string> choices;  ///< the words at the beginning of its help, as in "auto | json | none"
  bool takes_file = false;           ///< whether a value may be a file, according to the help
  std::string about;
};

/// Returns the flags that a command's help shows. They include flags of parent commands that the command
/// takes, too.
std::vector<Flag> flags_of(const CLI::App& app);
std::vector<const CLI::App*> subcommands_of(const CLI::App& app);
/// Returns the subcommand with this name; nullptr if the command has no such subcommand.
const CLI::App* subcommand_of(const CLI::App& app, const std::string& name);
/// Returns the command and all commands below it, each before its subcommands.
std::vector<const CLI::App*> commands_of(const CLI::App& root);
/// Returns the full name of a command, such as "lehr tune gemm".
std::string path_of(const CLI::App& app);
/// Returns the words that a command takes in addition to flags: its subcommands, and the choices of its
/// arguments.
std::vector<std::string> words_of(const CLI::App& app);

}  // namespace lehr
