// The operators as subcommands, each with its problem flags: what `tune`, `check`, `show` and `compile`
// share.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <string_view>
#include <vector>

#include "cli/conv2d_flags.h"
#include "cli/gemm_flags.h"

namespace lehr {

class ProblemFlags {
 public:
  /// Adds the subcommands `gemm` and `conv2d` to `app`; `help` is what the command does, with {} for the
  /// thing.
  void add_to(CLI::App& app, std::string_view help);
  /// For the flags that both take.
  const std::array<CLI::App*, 2>& operators() const { return apps_; }
  bool chosen() const { return apps_[0]->parsed() || apps_[1]->parsed(); }
  /// Of the operator that was chosen. Throws Error(kUser), one sentence.
  std::vector<Workload> workloads() const;
  /// The same, which must be one. Throws Error(kUser).
  Workload workload() const;

 private:
  std::array<CLI::App*, 2> apps_{};
  GemmFlags gemm_;
  Conv2dFlags conv2d_;
};

}  // namespace lehr
