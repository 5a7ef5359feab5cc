// `lehr check gemm`: sampled configs of every family against the reference, on this machine's device.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/environment.h"
#include "cli/gemm_flags.h"

namespace lehr {

class CheckCommand {
 public:
  CheckCommand(CLI::App& root, const Environment& environment);
  bool chosen() const { return app_->parsed(); }
  /// The exit code.
  int run();

 private:
  const Environment& environment_;
  CLI::App* app_;
  GemmFlags gemm_;
  std::string device_ = "auto", threads_, samples_ = "4", seed_ = "0";
  bool json_ = false;
};

}  // namespace lehr
