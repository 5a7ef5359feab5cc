// `lehr show`: prints the AST, the source, the features or the compile log of a config, the cost model of a
// task in a log, or the first picks of a session.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "cli/environment.h"
#include "cli/kernel_flags.h"
#include "codegen/source.h"
#include "database/record.h"
#include "tune/task.h"

namespace CLI {
class App;
}

namespace lehr {

class ShowCommand {
 public:
  ShowCommand(CLI::App& root, const Environment& environment);
  /// Returns the exit code.
  int run();

 private:
  /// A config, and where it comes from.
  struct Choice {
    Config config;
    std::string origin;
    Limits limits;  ///< limits with which the config was lowered
    ir::Kernel kernel;
    std::optional<Record> record = {};  ///< the record of the log, if the config comes from a log
    bool facts_known = true;            ///< whether `limits` are those of the record's device
  };
  Choice choose(const Task& task) const;
  std::optional<Choice> choose_from_log(const Workload& workload, const Limits& limits) const;
  static nlohmann::json as_measured(const Choice& choice, const Source& source);
  int run_model(const std::string& workload) const;
  int run_set(const std::string& range) const;
  int run_picks(const Workload& workload) const;

  const Environment& environment_;
  KernelFlags kernel_;
  std::string as_ = "ast", sample_, seed_ = "0", database_;
  bool json_ = false;
};

}  // namespace lehr
