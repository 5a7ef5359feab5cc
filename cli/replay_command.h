// `lehr replay`: runs a search strategy on recorded tables.
#pragma once

#include <string>
#include <vector>

#include "cli/environment.h"
#include "replay/report.h"

namespace CLI {
class App;
}

namespace lehr {

class ReplayCommand {
 public:
  ReplayCommand(CLI::App& root, const Environment& environment);
  /// Returns the exit code.
  int run();

 private:
  ReplayPlan plan() const;
  void write_plot(const std::vector<TableReport>& reports) const;

  std::vector<std::string> tables_, transfer_;
  std::string strategy_ = "anneal", trials_ = "256", seeds_ = "10", seed_ = "0", plot_;
  bool json_ = false, quiet_ = false;
};

}  // namespace lehr
