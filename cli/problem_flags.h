// The operators as subcommands, each with its problem flags, or a file of problems: what `tune`, `check`,
// `show` and `compile` share.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/operator_flags.h"
#include "measure/core/device.h"

namespace CLI {
class App;
}

namespace lehr {

class ProblemFlags {
 public:
  /// Adds a subcommand for each operator to `app`; `help` is what the command does, with {} for the thing.
  void add_to(CLI::App& app, std::string_view help);
  /// Adds --problems FILE and --suite NAME to that `app`, which then needs no subcommand.
  void add_file();
  /// For the flags that all take.
  const std::vector<CLI::App*>& operators() const { return apps_; }
  bool chosen() const;
  /// Of a file or a suite.
  bool from_file() const { return !file_.empty() || !suite_.empty(); }
  /// Of the operator that was chosen, or of the file: lines of it that are no problems are notes on stderr,
  /// or, with --strict, the first one is an error. Throws Error(kUser), one sentence.
  std::vector<Workload> workloads() const;
  /// The same, those of a file without the ones that no family serves on the device: `leave_out` gets a
  /// sentence for each of these, and for each family that fails to describe itself. Throws Error(kUser) where
  /// a workload of the flags, or none of the file, is served.
  std::vector<Workload> served_by(const Device& device, std::vector<Workload> workloads,
                                  const std::function<void(const std::string&)>& leave_out) const;
  /// The same, which must be one. Throws Error(kUser).
  Workload workload() const;

 private:
  std::vector<Workload> workloads_of_file() const;

  CLI::App* parent_ = nullptr;
  std::vector<CLI::App*> apps_;
  std::vector<OperatorFlags> flags_;  ///< of each of `apps_`
  std::string file_, suite_;
  bool strict_ = false;
};

}  // namespace lehr
