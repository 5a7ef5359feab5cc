// --threads, --tolerance, --seed and --feed of commands that ask an inference engine, and what they tell of
// it.
#pragma once

#include <string>

#include "apply/engine_trial.h"
#include "cli/environment.h"
#include "cli/model_flags.h"

namespace lehr {

class EngineFlags {
 public:
  void add_to(CLI::App& app, const char* threads_help);
  /// Throws Error(kUser). Without `ask` no engine is looked for.
  EngineCheck check(const ModelFlags& model, const Environment& environment, bool ask) const;
  /// Reads --feed. Throws Error(kUser).
  void feed(const OnnxModel& model, EngineCheck& check) const;

 private:
  std::string threads_, tolerance_ = "1e-4", seed_ = "0", feed_;
};

/// What is told of outputs that agree: "outputs within 3e-07 of their ranges", and what was not compared, in
/// lines of its own.
std::string agreement_text(const EngineVerdict& verdict);
/// "original 5.32 ms, rewritten 3.01 ms: 1.77x".
std::string speedup_text(const EngineVerdict& verdict);

}  // namespace lehr
