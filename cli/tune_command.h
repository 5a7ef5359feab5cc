// `lehr tune gemm|conv2d`: turns flags into calls of api/, and prints the results on stdout.
#pragma once

#include <string>

#include "cli/environment.h"
#include "cli/model_flags.h"
#include "cli/option_flags.h"
#include "cli/problem_flags.h"
#include "cli/progress.h"

namespace CLI {
class App;
}

namespace lehr {

class TuneCommand {
 public:
  TuneCommand(CLI::App& root, const Environment& environment);
  /// Returns the exit code.
  int run();

 private:
  /// Adds the flags that all operators take to `app`. `app` is an operator's subcommand, or the command
  /// itself, which takes --problems.
  void add_flags(CLI::App& app);
  api::DeviceOptions device_options(const Workload& workload) const;
  api::TuneOptions tune_options(ProgressPrinter& progress) const;
  /// Returns the network's workloads. The first workload decides which device is opened.
  std::vector<Workload> workloads_of_model() const;
  /// Runs the command with --dry-run: prints the shares of shards.
  int tell_shares(const std::vector<Workload>& workloads, const api::TuneOptions& options,
                  bool together) const;
  int tune_workloads();
  /// Runs the command with --trials 0: prints a config without measuring.
  int tell_untuned();
  int tune_model();

  const Environment& environment_;
  ProblemFlags problem_;
  ModelFlags model_;
  OptionFlags options_;
  std::string database_, progress_;
  bool no_baseline_ = false, dry_run_ = false, json_ = false, quiet_ = false;
};

}  // namespace lehr
