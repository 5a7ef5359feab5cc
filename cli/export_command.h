// `lehr export`: winners and their sources as one file.
#pragma once

#include <string>
#include <vector>

#include "cli/environment.h"
#include "cli/filter_flags.h"
#include "deploy/bundle_json.h"

namespace CLI {
class App;
}

namespace lehr {

class ExportCommand {
 public:
  ExportCommand(CLI::App& root, const Environment& environment);
  bool chosen() const;
  /// The exit code.
  int run();

 private:
  /// Measures again what can be; says what came of it. False: it was interrupted.
  bool remeasure_all(const std::vector<Winner>& found, const std::vector<Skipped>& skipped) const;

  const Environment& environment_;
  CLI::App* app_;
  FilterFlags filter_;
  std::string database_, out_;
  bool json_ = false, remeasure_ = false;
};

}  // namespace lehr
