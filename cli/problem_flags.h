// The operators as subcommands, each with its problem flags; or a workload's text, or a file of problems.
// Commands that take a problem share this.
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
  /// Adds a subcommand for each operator to `app`, and the workload's text as an argument. `help` is what the
  /// command does, with {} for the object.
  void add_to(CLI::App& app, std::string_view help);
  /// Adds --problems FILE and --suite NAME to that `app`, which then needs no subcommand.
  void add_file();
  /// Returns the operators' commands, for adding flags that all take.
  const std::vector<CLI::App*>& operators() const { return apps_; }
  /// Whether an operator or a text was given.
  bool chosen() const { return !text_.empty() || operator_chosen(); }
  /// Whether a file or a suite was given.
  bool from_file() const { return !file_.empty() || !suite_.empty(); }
  /// Returns the workloads of the chosen operator, of the text, or of the file. Its lines that are not
  /// problems become notes on stderr, or, with --strict, the first one is an error. Throws Error(kUser) with
  /// one sentence.
  std::vector<Workload> workloads() const;
  /// Returns the workloads without those of a file that no family serves on the device. `leave_out` gets a
  /// sentence for each of these, and for each family that fails to describe itself. Throws Error(kUser) if a
  /// workload of the flags, or all of the file, are not served.
  std::vector<Workload> served_by(const Device& device, std::vector<Workload> workloads,
                                  const std::function<void(const std::string&)>& leave_out) const;
  /// Returns the workload, which must be the only one. Throws Error(kUser).
  Workload workload() const;

 private:
  bool operator_chosen() const;
  std::vector<Workload> workloads_of_file() const;

  CLI::App* parent_ = nullptr;
  std::vector<CLI::App*> apps_;
  std::vector<OperatorFlags> flags_;  ///< by position in `apps_`
  std::string text_, file_, suite_;
  bool strict_ = false;
};

}  // namespace lehr
