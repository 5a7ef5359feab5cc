// `lehr bench gemm|conv2d`: times named schedules of one workload in turn with the vendor libraries.
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
  /// Returns the exit code.
  int run();

 private:
  /// Adds the flags that all operators take to `app`. `app` is an operator's subcommand, or the command
  /// itself, which takes a workload's text.
  void add_flags(CLI::App& app);
  /// Returns the points of --config, or the default of each family. Throws Error(kUser) if a point is not in
  /// the space.
  std::vector<Point> points(const Candidates& candidates) const;
  /// Lists the content of --bundle if there is no workload.
  int list_bundle() const;
  /// Returns the chosen device. With a bundle the default is the processor. Throws Error(kUser).
  DeviceChoice device_choice() const;
  /// Returns the workload. For a range of rows it returns a workload for each number of rows at which kernels
  /// are timed: powers of two, one and a half times these, and both ends. Throws Error(kUser).
  std::vector<Workload> calls() const;
  /// Runs one contest, and prints its result or adds it to the document. Returns false if a kernel computed
  /// wrong results.
  bool contest(const Workload& workload, const OpenDevice& setup, nlohmann::json& document) const;
  /// Returns the vendor libraries that take part. Throws Error(kUser).
  std::vector<std::string> baselines(Target target) const;

  const Environment& environment_;
  ProblemFlags problem_;
  std::vector<std::string> configs_;
  OptionFlags device_;
  std::string time_ = "5s", baseline_, bundle_;
  bool no_baseline_ = false, json_ = false;
};

}  // namespace lehr
