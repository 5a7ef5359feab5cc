// `lehr export`: winners as a folder that a product uses.
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
  /// The exit code.
  int run();

 private:
  const Environment& environment_;
  FilterFlags filter_;
  std::string database_, out_, buckets_, isa_;
  bool json_ = false, remeasure_ = false, embed_ = false;
};

}  // namespace lehr
