// What shells complete of the command line, as a script for each of them.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace lehr {

/// For the tree of commands below `root`: commands, flags, choices of values; files where a value may be one.
std::string bash_completion(const CLI::App& root);
std::string zsh_completion(const CLI::App& root);
std::string fish_completion(const CLI::App& root);

}  // namespace lehr
