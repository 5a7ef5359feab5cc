// The flags of an operator for commands that take a problem. They are made from the operator's table.
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
  /// `op` must outlive this object. This object must live until the app of add_to() has parsed its arguments.
  explicit OperatorFlags(const OperatorTable& op);
  /// Adds a flag for each field that has help.
  void add_to(CLI::App& app);
  /// Returns the workloads for all combinations of the listed sizes and values. The sizes are in the table's
  /// order, the first varies slowest, and other values vary faster than sizes. Throws Error(kUser) with one
  /// sentence.
  std::vector<Workload> workloads() const;

 private:
  bool left_out(std::size_t field) const;
  std::string_view given(std::string_view key) const;
  Workload without_lists() const;
  std::vector<Workload> with_sizes(const Workload& base) const;
  void finish(Workload& workload) const;

  const OperatorTable& op_;
  std::vector<std::string> texts_;  ///< values as on the command line, by field
};

}  // namespace lehr
