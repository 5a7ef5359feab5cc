// `lehr best`: the winners of a database, and how each was found.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/environment.h"
#include "cli/filter_flags.h"

namespace lehr {

class BestCommand {
 public:
  BestCommand(CLI::App& root, const Environment& environment);
  bool chosen() const { return app_->parsed(); }
  /// The exit code.
  int run();

 private:
  CLI::App* app_;
  FilterFlags filter_;
  std::string database_;
  bool json_ = false;
};

}  // namespace lehr
