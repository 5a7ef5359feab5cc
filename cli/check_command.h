// `lehr check gemm|conv2d`: checks sampled configs of every family against the reference, on this machine's
// device.
#pragma once

#include <string>

#include "cli/environment.h"
#include "cli/option_flags.h"
#include "cli/problem_flags.h"

namespace CLI {
class App;
}

namespace lehr {

class CheckCommand {
 public:
  CheckCommand(CLI::App& root, const Environment& environment);
  /// Returns the exit code.
  int run();

 private:
  /// Adds the flags that all operators take to `app`. `app` is an operator's subcommand, or the command
  /// itself, which takes --problems.
  void add_flags(CLI::App& app);
  const Environment& environment_;
  ProblemFlags problem_;
  OptionFlags device_;
  std::string samples_ = "4", seed_ = "0";
  bool json_ = false;
};

}  // namespace lehr
