// `lehr show`: one config's AST, source, features or compile log.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/environment.h"
#include "cli/gemm_flags.h"
#include "measure/device.h"
#include "space/config.h"

namespace lehr {

class ShowCommand {
 public:
  ShowCommand(CLI::App& root, const Environment& environment);
  bool chosen() const { return app_->parsed(); }
  /// The exit code.
  int run();

 private:
  /// A config, and where it comes from.
  struct Choice {
    Config config;
    std::string origin;
  };
  Workload workload() const;
  Device device(const Workload& workload) const;
  Choice choose(const Workload& workload, const Limits& limits) const;

  const Environment& environment_;
  CLI::App* app_;
  CLI::App* gemm_app_;
  GemmFlags gemm_;
  std::string workload_, as_ = "ast", config_, sample_, arch_, device_ = "auto", threads_, database_;
  bool json_ = false;
};

}  // namespace lehr
