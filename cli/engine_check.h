// What an inference engine says of a rewritten model: that it computes the same, and how fast it is.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cli/environment.h"
#include "cli/model_flags.h"
#include "measure/system/temp_dir.h"
#include "measure/vendor/onnxruntime/trial.h"
#include "network/rewrite.h"

namespace lehr {

/// How models are tried.
struct EngineCheck {
  std::vector<std::string> libraries;  ///< onnxruntime::find_libraries()
  int threads = 1;
  std::uint64_t seed = 0;
  ShapeBindings bindings;                         ///< of the inputs' shapes
  std::vector<onnxruntime::FedInput> fed = {};    ///< inputs that the user gives
  std::shared_ptr<const TempDir> fed_files = {};  ///< where these are
  double tolerance = 1e-4;                        ///< of an output's range
  /// Places whose kernels do fewer products than the operator's sum has (Winograd's): what they are worth is
  /// told.
  std::set<const ModelPlace*> saving = {};
};

/// --threads, --tolerance, --seed and --feed of commands that ask an engine.
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

/// The shapes of a model's inputs as the bindings have them; what they leave open is 1.
std::map<std::string, std::vector<std::int64_t>> input_shapes(const OnnxModel& model,
                                                              const ShapeBindings& bindings);

/// A rewritten model in the engine, beside the original: the folder has model.onnx and the plug-in. Timed for
/// `seconds`; 0: not. [0] is the original.
onnxruntime::TrialReport try_folder(const OnnxModel& model, const ModelShapes& shapes,
                                    const std::string& original, const std::string& folder,
                                    const EngineCheck& check, double seconds);

/// What is known of whether a rewritten model is right.
enum class Proof {
  kNone,   ///< no engine was asked, or there is none
  kOpen,   ///< there is one, and it cannot tell
  kWrong,  ///< the rewritten model does not run, or computes something else
  kRight
};

/// What is told of outputs that agree: "outputs within 3e-07 of their ranges", and what was not compared, in
/// lines of its own.
struct Agreed {
  double worst, own, tolerance;
  std::vector<std::string> uncompared, notes;
};
std::string agreement_text(const Agreed& agreed);

Proof proof_of(const onnxruntime::TrialReport& report);
/// A sentence without a full stop; "" for Proof::kRight.
std::string why_unproved(const onnxruntime::TrialReport& report);

/// Which places stay replaced.
struct PlaceChoice {
  std::vector<Replacement> replacements;  ///< empty: nothing pays
  Proof proof = Proof::kNone;
  std::string failure;                         ///< why it is not kRight; a sentence without a full stop
  std::vector<std::string> uncompared, notes;  ///< TrialReport
  std::string engine;                          ///< its version
  double original_us = 0, rewritten_us = 0, speedup = 0;  ///< 0: not timed
  double without_saving_us = 0;  ///< of the rewritten one without its places of `saving`; 0: it has none
  double worst = 0, own = 0;     ///< largest difference, as a share of an output's range; TrialReport
  double tolerance = 0;          ///< of the check
};

/// Of the replacements, in the order of the graph, those with which the whole model is fastest: runs of
/// neighbouring places are taken out where that makes it faster by 1 % or more, in at most `seconds` of
/// timing, since an engine puts reorders of its own around what it does not compute. `folder` has the plug-in
/// and the kernels, and gets models written beside them. `tell` gets a line for each step.
PlaceChoice choose_places(const OnnxModel& model, const ModelShapes& shapes, const std::string& original,
                          std::vector<Replacement> replacements, const std::string& folder,
                          const EngineCheck& check, double seconds,
                          const std::function<void(const std::string&)>& tell);

}  // namespace lehr
