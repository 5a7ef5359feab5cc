// `lehr bench gemm|conv2d`: named schedules of one workload, timed in turn with the vendor libraries.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/environment.h"
#include "cli/option_flags.h"
#include "cli/problem_flags.h"
#include "tune/open_device.h"
#include "tune/task.h"

namespace CLI {
class App;
}

namespace lehr {

class BenchCommand {
 public:
  BenchCommand(CLI::App& root, const Environment& environment);
  /// The exit code.
  int run();

 private:
  /// Adds the flags that the operators take, and the command itself with a workload's text.
  void add_flags(CLI::App& app);
  /// Those of --config, or each family's default. Throws Error(kUser) for one that is no point of the space.
  std::vector<Point> points(const Candidates& candidates) const;
  /// With --bundle and no workload: what it holds.
  int list_bundle() const;
  /// The device: with a bundle the processor where nothing is said. Throws Error(kUser).
  DeviceChoice device_choice() const;
  /// The one workload, or of a range of rows each size at which its kernels are timed: powers of two, one and
  /// a half times these, and both ends. Throws Error(kUser).
  std::vector<Workload> calls() const;
  /// One contest, printed or as a document. False where one of the configs' kernels was not right.
  bool contest(const Workload& workload, const OpenDevice& setup, nlohmann::json& document) const;
  /// The libraries that take part. Throws Error(kUser).
  std::vector<std::string> baselines(Target target) const;

  const Environment& environment_;
  ProblemFlags problem_;
  std::vector<std::string> configs_;
  OptionFlags device_;
  std::string time_ = "5s", baseline_, bundle_;
  bool no_baseline_ = false, json_ = false;
};

}  // namespace lehr
