// `lehr db stats`: what a database holds.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/environment.h"

namespace lehr {

class DbCommand {
 public:
  DbCommand(CLI::App& root, const Environment& environment);
  bool chosen() const { return stats_->parsed(); }
  /// The exit code.
  int run();

 private:
  CLI::App* stats_;
  std::string database_;
  bool json_ = false;
};

}  // namespace lehr
