// The operators as subcommands, each with its problem flags, a workload's text, or a file of problems: what
// commands that take a problem share.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/operator_flags.h"
#include "record/device.h"

namespace CLI {
class App;
}

namespace lehr {

class ProblemFlags {
 public:
  /// Adds a subcommand for each operator to `app`, and the workload's text as an argument; `help` is what the
  /// command does, with {} for the thing.
  void add_to(CLI::App& app, std::string_view help);
  /// Adds --problems FILE and --suite NAME to that `app`, which then needs no subcommand.
  void add_file();
  /// For the flags that all take.
  const std::vector<CLI::App*>& operators() const { return apps_; }
  /// An operator or a text was given.
  bool chosen() const { return !text_.empty() || operator_chosen(); }
  /// Of a file or a suite.
  bool from_file() const { return !file_.empty() || !suite_.empty(); }
  /// Returns those of the operator that was chosen, of the text, or of the file. Its lines that are no
  /// problems are notes on stderr, or, with --strict, the first one is an error. Throws Error(kUser), one
  /// sentence.
  std::vector<Workload> workloads() const;
  /// The same, those of a file without the ones that no family serves on the device: `leave_out` gets a
  /// sentence for each of these, and for each family that fails to describe itself. Throws Error(kUser) where
  /// a workload of the flags, or none of the file, is served.
  std::vector<Workload> served_by(const Device& device, std::vector<Workload> workloads,
                                  const std::function<void(const std::string&)>& leave_out) const;
  /// The same, which must be one. Throws Error(kUser).
  Workload workload() const;

 private:
  bool operator_chosen() const;
  std::vector<Workload> workloads_of_file() const;

  CLI::App* parent_ = nullptr;
  std::vector<CLI::App*> apps_;
  std::vector<OperatorFlags> flags_;  ///< of each of `apps_`
  std::string text_, file_, suite_;
  bool strict_ = false;
};

}  // namespace lehr
