// Runs models in ONNX Runtime, checks whether they compute the same, and times each.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/describe.h"
#include "measure/core/backend.h"
#include "measure/vendor/onnxruntime/compare.h"
#include "measure/vendor/onnxruntime/inputs.h"
#include "measure/vendor/onnxruntime/profile.h"

namespace lehr::onnxruntime {

struct ModelFile {
  std::string path;
  std::string plugin;  ///< "": no plug-in
  /// Whether it is compared only for the first kind of inputs. Set for models that are timed but not
  /// reported.
  bool briefly = false;
};
void describe(auto& field, Is<ModelFile> auto& file) {
  field("path", file.path);
  field("plugin", file.plugin);
  field("briefly", file.briefly);
}

/// An input with values from the user. Its elements are in a file of their own.
struct FedInput {
  std::string name;
  int type = 0;  ///< OrtElementType
  std::vector<std::int64_t> shape;
  std::string path;
};
void describe(auto& field, Is<FedInput> auto& input) {
  field("name", input.name);
  field("type", input.type);
  field("shape", input.shape);
  field("path", input.path);
}

struct TrialRequest {
  std::vector<std::string> libraries;  ///< find_libraries()
  /// The first one is the original; if empty, the engine is only looked for.
  std::vector<ModelFile> models;
  int threads = 1;
  std::uint64_t seed = 0;                                   ///< seed of random inputs
  std::map<std::string, std::vector<std::int64_t>> shapes;  ///< InputNeeds::shapes
  std::map<std::string, WholeRange> ranges;                 ///< InputNeeds::ranges
  /// Inputs that replace random inputs by name. If there are any, there is only one kind of inputs.
  std::vector<FedInput> fed;
  /// Whether to compare for all kinds of inputs. If false, only the first kind with which the original runs
  /// is used.
  bool all_kinds = true;
  ComparisonRules rules;     ///< for comparing the models
  double seconds = 0;        ///< seconds for timing the models in turns; 0: they are not timed
  std::size_t profiled = 0;  ///< number of models, from the first on, that are profiled by node
};
void describe(auto& field, Is<TrialRequest> auto& request) {
  field("libraries", request.libraries);
  field("models", request.models);
  field("threads", request.threads);
  field("seed", request.seed);
  field("shapes", request.shapes);
  field("ranges", request.ranges);
  field("fed", request.fed);
  field("all_kinds", request.all_kinds);
  field("rules", request.rules);
  field("seconds", request.seconds);
  field("profiled", request.profiled);
}

struct ModelTrial {
  std::string failure;  ///< why it did not run, or how its outputs differ; "": neither
  /// Largest difference from the first model's outputs, as a fraction of an output's range.
  double worst = 0;
  std::string worst_output;  ///< the output with this difference
  std::vector<OutputAgreement> outputs;
  double creation_us = 0;  ///< microseconds for making its session
  /// Growth of the process's memory until the end of the first inference, for the first model only. 0: not
  /// known.
  std::int64_t memory_bytes = 0;
  std::vector<double> turn_us;  ///< time of an inference in each turn
  std::vector<NodeTime> nodes;  ///< node_times() if it was profiled; empty: the engine did not report them
};
void describe(auto& field, Is<ModelTrial> auto& trial) {
  field("failure", trial.failure);
  field("worst", trial.worst);
  field("worst_output", trial.worst_output);
  field("outputs", trial.outputs);
  field("creation_us", trial.creation_us);
  field("memory_bytes", trial.memory_bytes);
  field("turn_us", trial.turn_us);
  field("nodes", trial.nodes);
}

struct TrialReport {
  std::string failure;  ///< failure of the engine itself, not of a model
  bool died = false;    ///< whether `failure` is that its process crashed or did not end
  std::string version;  ///< version of the engine
  /// Whether any output was compared. If false, `blind` says why.
  bool compared = false;
  std::vector<BlindOutput> blind;  ///< outputs that could not be compared
  std::vector<std::string> notes;  ///< clauses about kinds of inputs that show less than others
  double own = 0;  ///< largest difference of the original from itself, as a fraction of an output's range
  std::vector<ModelTrial> models;
};
void describe(auto& field, Is<TrialReport> auto& report) {
  field("failure", report.failure);
  field("died", report.died);
  field("version", report.version);
  field("compared", report.compared);
  field("blind", report.blind);
  field("notes", report.notes);
  field("own", report.own);
  field("models", report.models);
}

/// Returns the paths where libonnxruntime.so may be, the best guess first: the path in LEHR_ONNXRUNTIME, or
/// else the loader's, then the path of the package onnxruntime of the Python on PATH.
std::vector<std::string> find_libraries(const ToolPaths& tools);

/// Loads ONNX Runtime into this process and returns its version and path. Throws Error(kEnvironment), whose
/// text says what to install.
std::string describe_engine(const ToolPaths& tools);

/// Tries models in this process. The engine, or a plug-in that it loads, may crash the process. Each model
/// runs twice on the same inputs of each kind (input_kinds()). Then the models are timed in turns of some
/// inferences, and the first `request.profiled` models are profiled. Profiles are written to files whose
/// paths begin with `scratch`. Never throws for failures of the engine or of models.
TrialReport try_models(const TrialRequest& request, const std::string& scratch);

/// Does the same in a process of its own, `lehr engine REQUEST REPORT`. The process may take `limit_s`
/// seconds, and is ended once `stop` is true.
TrialReport try_models_apart(const TrialRequest& request, const ToolPaths& tools, double limit_s,
                             const std::atomic<bool>* stop = nullptr);

/// The main function of that process. Reads the request from one file and writes the report to the other.
int trial_main(const std::string& request, const std::string& report);

/// Times of two models, compared over the turns that both have.
struct Beside {
  /// Medians over the turns whose ratio is within the interval of the median ratio. Turns in which a busy
  /// machine slowed down only one of the two models are left out.
  double one_us = 0, other_us = 0;
  /// How many times as fast `one` is as `other`: the ratio of `other_us` to `one_us`, with that interval.
  Ratio speedup;
};
/// Returns zeros if one of the models has no turns.
Beside beside(const ModelTrial& one, const ModelTrial& other);
/// Returns the value of beside().speedup.
double speedup(const ModelTrial& one, const ModelTrial& other);
/// Returns the median of the turns in microseconds; 0 without turns.
double median_us(const ModelTrial& trial);

}  // namespace lehr::onnxruntime
