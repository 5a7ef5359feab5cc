// The flags of an operator, from its table, for the commands that take a problem.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workload/operator.h"

namespace CLI {
class App;
}

namespace lehr {

class OperatorFlags {
 public:
  /// `op` must outlive this, and this must outlive the parsing of add_to()'s app.
  explicit OperatorFlags(const OperatorTable& op);
  /// Adds a flag for each field that has help.
  void add_to(CLI::App& app);
  /// Returns the cross product of all lists: of sizes in the table's order, the first one slowest, then of
  /// values. Throws Error(kUser) with one sentence.
  std::vector<Workload> workloads() const;

 private:
  bool left_out(std::size_t field) const;
  std::string_view given(std::string_view key) const;
  Workload without_lists() const;
  std::vector<Workload> with_sizes(const Workload& base) const;
  void finish(Workload& workload) const;

  const OperatorTable& op_;
  std::vector<std::string> texts_;  ///< by field, as on the command line
};

}  // namespace lehr
