// `lehr report`: writes one page about logs and about applied networks.
#pragma once

#include <string>
#include <vector>

#include "cli/environment.h"

namespace CLI {
class App;
}

namespace lehr {

class ReportCommand {
 public:
  ReportCommand(CLI::App& root, const Environment& environment);
  /// Returns the exit code.
  int run();

 private:
  void refuse_a_log_as_page() const;

  static constexpr const char* kUsualPage = "report.html";
  std::vector<std::string> logs_, applied_;
  std::string out_ = kUsualPage, others_;
  bool json_ = false;
};

}  // namespace lehr
