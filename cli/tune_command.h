// `lehr tune gemm|conv2d`: from flags to api/, and its results on stdout.
#pragma once

#include <string>
#include <vector>

#include "cli/device_flags.h"
#include "cli/environment.h"
#include "cli/model_flags.h"
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
  api::DeviceOptions device_options(const std::string& workload) const;
  api::TuneOptions tune_options(ProgressPrinter& progress) const;
  /// Their texts. Throws Error(kUser) where the flags name one that cannot be tuned on the device.
  std::vector<std::string> workloads_on(const api::Device& device,
                                        const std::vector<Workload>& workloads) const;
  void check_ranges(const std::vector<Workload>& workloads) const;
  /// Of the network: on which device depends on it.
  Workload first_workload() const;
  int tune_workloads();
  /// --trials 0.
  int tell_untuned();
  int tune_model();

  const Environment& environment_;
  ProblemFlags problem_;
  ModelFlags model_;
  MeasureFlags measure_;
  std::string precision_, kernels_, jobs_, trials_, time_, patience_,
      strategy_ = "anneal", seed_ = "0", database_, baseline_, transfer_ = "auto", overlap_ = "auto",
      progress_;
  bool no_baseline_ = false, json_ = false, quiet_ = false, fresh_ = false, cold_ = false, warm_ = false,
       no_winograd_ = false, deterministic_check_ = false;
};

}  // namespace lehr
