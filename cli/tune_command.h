// `lehr tune gemm|conv2d`: from flags to sessions, and their results on stdout.
#pragma once

#include <string>
#include <vector>

#include "cli/device_flags.h"
#include "cli/environment.h"
#include "cli/model_flags.h"
#include "cli/problem_flags.h"
#include "tune/session.h"

namespace CLI {
class App;
}

namespace lehr {

class TuneCommand {
 public:
  TuneCommand(CLI::App& root, const Environment& environment);
  /// The exit code.
  int run();

 private:
  /// Those that both operators take, and the command itself with --problems.
  void add_flags(CLI::App& app);
  SessionOptions session_options() const;
  /// By the flags; a note of it is printed.
  OpenDevice setup_for(const Workload& workload) const;
  /// What sessions work with, for as long as it lives.
  struct TuneServices;
  int tune_workloads(std::vector<Workload> workloads, const OpenDevice& setup, TuneServices& services);
  int tune_model(const Network& network, const OpenDevice& setup, TuneServices& services);
  /// Wall seconds of --time for all tasks of a model.
  double model_time_s(std::size_t tasks) const;
  /// What is said at the end: all documents of --json, or an overview of several.
  void print_all(const std::vector<Summary>& summaries, bool one_workload) const;

  const Environment& environment_;
  ProblemFlags problem_;
  ModelFlags model_;
  MeasureFlags measure_;
  std::string jobs_, trials_, time_, patience_, strategy_ = "anneal", seed_ = "0", database_, baseline_,
                                                transfer_ = "auto", overlap_ = "auto";
  bool no_baseline_ = false, json_ = false, quiet_ = false, fresh_ = false, cold_ = false, warm_ = false,
       no_winograd_ = false, deterministic_check_ = false;
};

}  // namespace lehr
