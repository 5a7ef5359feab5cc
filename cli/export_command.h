// `lehr export`: winners and their sources as one file.
#pragma once

#include <string>

#include "cli/environment.h"
#include "cli/filter_flags.h"

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
  const Environment& environment_;
  CLI::App* app_;
  FilterFlags filter_;
  std::string database_, out_;
  bool json_ = false;
};

}  // namespace lehr
