// `lehr help`, `version`, `completions` and `man`: what the program says of itself.
#pragma once

#include <functional>
#include <vector>

namespace CLI {
class App;
}

namespace lehr {

struct AboutCommand {
  const CLI::App* app;
  std::function<int()> run;  ///< the exit code
};

/// Adds them to `root`, which outlives what is returned.
std::vector<AboutCommand> add_about_commands(CLI::App& root);

}  // namespace lehr
