// The command line as a whole: subcommands, help, and what is wrong with an invocation.
#pragma once

#include <memory>

namespace CLI {
class App;
}

namespace lehr {

class CommandLine {
 public:
  CommandLine();
  ~CommandLine();
  /// All commands with their flags.
  CLI::App& app();
  /// Parses, runs the chosen command and returns the exit code; says the first steps where none is chosen.
  /// Throws Error. Once.
  int run(int argc, char** argv);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace lehr
