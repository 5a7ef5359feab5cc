// The ways to give a command its problems: an operator as a subcommand with its flags, a workload's text, or
// a file of problems. All commands that take problems use this.
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
  /// Adds a subcommand for each operator to `app`, and a workload's text as an argument. `help` says what the
  /// command does, with {} in place of its object.
  void add_to(CLI::App& app, std::string_view help);
  /// Adds --problems FILE and --suite NAME to the `app` of add_to(). Then no subcommand is needed.
  void add_file();
  /// Returns the operators' subcommands, so that flags can be added to all of them.
  const std::vector<CLI::App*>& operators() const { return apps_; }
  /// Whether an operator or a text was given.
  bool chosen() const { return !text_.empty() || operator_chosen(); }
  /// Whether a file or a suite was given.
  bool from_file() const { return !file_.empty() || !suite_.empty(); }
  /// Returns the workloads of the chosen operator, of the text, or of the file. A line of the file that is
  /// not a problem is reported on stderr; with --strict it is an error. Throws Error(kUser) with one
  /// sentence.
  std::vector<Workload> workloads() const;
  /// Returns the workloads that a family serves on the device. `leave_out` gets a sentence for each other
  /// workload of a file, and for each family that fails to describe itself. Throws Error(kUser) if a workload
  /// of the flags is not served, or no workload of the file is.
  std::vector<Workload> served_by(const Device& device, std::vector<Workload> workloads,
                                  const std::function<void(const std::string&)>& leave_out) const;
  /// Returns the only workload. Throws Error(kUser) if there are several.
  Workload workload() const;

 private:
  bool operator_chosen() const;
  std::vector<Workload> workloads_of_file() const;

  CLI::App* parent_ = nullptr;
  std::vector<CLI::App*> apps_;
  std::vector<OperatorFlags> flags_;  ///< flags of the operators, in the order of `apps_`
  std::string text_, file_, suite_;
  bool strict_ = false;
};

}  // namespace lehr
