// `lehr export`: winners and their sources as one file.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/environment.h"
#include "cli/filter_flags.h"

namespace lehr {

class ExportCommand {
 public:
  ExportCommand(CLI::App& root, const Environment& environment);
  bool chosen() const { return app_->parsed(); }
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
