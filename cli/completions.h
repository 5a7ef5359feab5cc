// Completion of the command line, as a script for each shell.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace lehr {

/// Return the script for the tree of commands below `root`: commands, flags, choices of values; files if a
/// value may be one.
std::string bash_completion(const CLI::App& root);
std::string zsh_completion(const CLI::App& root);
std::string fish_completion(const CLI::App& root);

}  // namespace lehr
