// The command line as a whole: subcommands, help, and errors of an invocation.
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
  /// Returns all commands with their flags.
  CLI::App& app();
  /// Parses the arguments, runs the chosen command and returns its exit code. If no command is chosen, prints
  /// the first steps. Throws Error. Call it only once.
  int run(int argc, char** argv);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace lehr
