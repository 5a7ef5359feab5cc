// Writes scripts for the completion of the command line, one for each shell.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace lehr {

/// Return the script for all commands below `root`. It completes commands, flags, choices of values, and
/// files where a value may be a file.
std::string bash_completion(const CLI::App& root);
std::string zsh_completion(const CLI::App& root);
std::string fish_completion(const CLI::App& root);

}  // namespace lehr
