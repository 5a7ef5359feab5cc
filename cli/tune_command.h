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
  /// Adds the flags that all operators take, and the command's own form with --problems.
  void add_flags(CLI::App& app);
  api::DeviceOptions device_options(const Workload& workload) const;
  api::TuneOptions tune_options(ProgressPrinter& progress) const;
  /// Returns the network's workloads. The first one decides on the device.
  std::vector<Workload> workloads_of_model() const;
  /// Does --dry-run.
  int tell_shares(const std::vector<Workload>& workloads, const api::TuneOptions& options,
                  bool together) const;
  int tune_workloads();
  /// Does --trials 0.
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
