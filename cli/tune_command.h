// `lehr tune gemm`: from flags to sessions, and their results on stdout.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/environment.h"
#include "cli/gemm_flags.h"
#include "tune/session.h"

namespace lehr {

class TuneCommand {
 public:
  TuneCommand(CLI::App& root, const Environment& environment);
  bool chosen() const { return app_->parsed(); }
  /// The exit code.
  int run();

 private:
  SessionOptions session_options() const;

  const Environment& environment_;
  CLI::App* app_;
  GemmFlags gemm_;
  std::string device_ = "auto", threads_, jobs_, trials_, time_, patience_, strategy_ = "anneal", seed_ = "0",
              database_, baseline_, transfer_ = "auto";
  bool no_baseline_ = false, json_ = false, quiet_ = false, fresh_ = false;
};

}  // namespace lehr
