// `lehr tune gemm|conv2d`: from flags to api/, and its results on stdout.
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
  /// The exit code.
  int run();

 private:
  /// Those that both operators take, and the command itself with --problems.
  void add_flags(CLI::App& app);
  api::DeviceOptions device_options(const Workload& workload) const;
  api::TuneOptions tune_options(ProgressPrinter& progress) const;
  /// Returns the network's; the first decides on the device.
  std::vector<Workload> workloads_of_model() const;
  /// --dry-run.
  int tell_shares(const std::vector<Workload>& workloads, const api::TuneOptions& options,
                  bool together) const;
  int tune_workloads();
  /// --trials 0.
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
