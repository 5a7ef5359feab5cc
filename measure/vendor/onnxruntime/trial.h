// Runs models beside each other in ONNX Runtime: whether they compute the same, and how long each takes.
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
  /// Whether it is only compared for the first kind of inputs: it is timed beside the one that is reported.
  bool briefly = false;
};
void describe(auto& field, Is<ModelFile> auto& file) {
  field("path", file.path);
  field("plugin", file.plugin);
  field("briefly", file.briefly);
}

/// An input that the user gives: its elements are in a file of their own.
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
  std::vector<ModelFile> models;       ///< the first one is the original; none: the engine is only looked for
  int threads = 1;
  std::uint64_t seed = 0;                                   ///< of random inputs
  std::map<std::string, std::vector<std::int64_t>> shapes;  ///< InputNeeds
  std::map<std::string, WholeRange> ranges;                 ///< InputNeeds
  /// Replace random inputs of these names; if there are any, there is one kind of inputs.
  std::vector<FedInput> fed;
  /// Whether to compare with all kinds of inputs; if false, with the first kind with which the original runs.
  bool all_kinds = true;
  ComparisonRules rules;     ///< for comparing the models
  double seconds = 0;        ///< time for timing them in turns; 0: they are not timed
  std::size_t profiled = 0;  ///< number of models, from the first on, whose times by node are measured
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
  std::string failure;  ///< why it did not run, or what it computes differently; "": neither
  double worst = 0;  ///< largest difference from the first model's outputs, as a share of an output's range
  std::string worst_output;  ///< the output with this difference
  std::vector<OutputAgreement> outputs;
  double creation_us = 0;  ///< time for making its session
  /// Growth of the process until the end of the first inference; only of the first model. 0: not known.
  std::int64_t memory_bytes = 0;
  std::vector<double> turn_us;  ///< by turn, the time of an inference
  std::vector<NodeTime> nodes;  ///< node_times() if it was profiled; empty: not possible
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
  std::string failure;  ///< the engine's own failure
  bool died = false;    ///< whether `failure` is that its process crashed or did not end
  std::string version;  ///< the engine's
  /// Whether an output was compared; if false, `blind` says why.
  bool compared = false;
  std::vector<BlindOutput> blind;  ///< outputs that could not be compared
  std::vector<std::string> notes;  ///< clauses about inputs that show less than others
  double own = 0;  ///< largest difference of the original from itself, as a share of an output's range
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

/// Returns the paths where libonnxruntime.so may be, the best guess first: that of LEHR_ONNXRUNTIME, or the
/// loader's, and that of the package onnxruntime of the Python on PATH.
std::vector<std::string> find_libraries(const ToolPaths& tools);

/// Loads ONNX Runtime into this process and returns its version and path. Throws Error(kEnvironment) that
/// says what to install.
std::string describe_engine(const ToolPaths& tools);

/// Tries models in this process, which an engine, or what it loads, may crash. Each model computes the same
/// inputs of each kind (input_kinds()) twice. Then they are timed in turns of some inferences, and the
/// requested ones are profiled; they write files whose paths begin with `scratch`. Never throws for failures
/// of engine or models.
TrialReport try_models(const TrialRequest& request, const std::string& scratch);

/// Does the same in a process of its own, `lehr engine REQUEST REPORT`, which may take `limit_s` seconds and
/// is ended once `stop` is true.
TrialReport try_models_apart(const TrialRequest& request, const ToolPaths& tools, double limit_s,
                             const std::atomic<bool>* stop = nullptr);

/// Runs main() of that process: reads the request's file, writes the report's.
int trial_main(const std::string& request, const std::string& report);

/// Two models, compared over the turns that both had.
struct Beside {
  /// Medians over the turns with a usual ratio, within the interval of the ratios' median. Turns that a busy
  /// machine slowed down for only one of the two are left out.
  double one_us = 0, other_us = 0;
  /// How many times as fast `one` is as `other`: the ratio of these times, with that interval.
  Ratio speedup;
};
/// Returns zeros if either has no turns.
Beside beside(const ModelTrial& one, const ModelTrial& other);
/// Returns the value of its speedup.
double speedup(const ModelTrial& one, const ModelTrial& other);
/// Returns the median of the turns in microseconds; 0 without turns.
double median_us(const ModelTrial& trial);

}  // namespace lehr::onnxruntime
