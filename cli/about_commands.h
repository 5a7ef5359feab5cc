// `lehr help`, `version`, `completions` and `man`: what the program prints about itself.
#pragma once

#include <functional>
#include <vector>

namespace CLI {
class App;
}

namespace lehr {

struct AboutCommand {
  const CLI::App* app;
  std::function<int()> run;  ///< returns the exit code
};

/// Adds these commands to `root`, which must outlive the result.
std::vector<AboutCommand> add_about_commands(CLI::App& root);

}  // namespace lehr
