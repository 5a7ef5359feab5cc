// Models beside each other in ONNX Runtime: whether they compute the same, and how long each takes.
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
  std::string plugin;    ///< "": none
  bool briefly = false;  ///< compared for the first kind of inputs alone: it is timed beside what is told
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
  std::vector<ModelFile>
      models;  ///< the first is what the others are compared with; none: only the engine is looked for
  int threads = 1;
  std::uint64_t seed = 0;                                   ///< of random inputs
  std::map<std::string, std::vector<std::int64_t>> shapes;  ///< InputNeeds
  std::map<std::string, WholeRange> ranges;                 ///< InputNeeds
  std::vector<FedInput> fed;  ///< in place of random inputs of these names; then of no kind but one
  bool all_kinds = true;      ///< of inputs; else of the first kind with which the original runs
  ComparisonRules rules;      ///< what the models are held to
  double seconds = 0;         ///< in which they are timed in turns; 0: they are not
  std::size_t profiled = 0;   ///< so many of the first models tell where their time goes, once they are timed
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
  std::string failure;  ///< why it did not run, or computes something else; "": neither
  double worst = 0;  ///< largest difference from the first model's outputs, as a share of an output's range
  std::string worst_output;  ///< in which output
  std::vector<OutputAgreement> outputs;
  double creation_us = 0;  ///< in which its session was made
  /// What the process grew by until the first inference was done; of the first model alone. 0: not known.
  std::int64_t memory_bytes = 0;
  std::vector<double> turn_us;  ///< of each turn, the time of an inference
  std::vector<NodeTime> nodes;  ///< node_times() of one that tells; empty: it could not
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
  std::string failure;  ///< of the engine itself
  bool died = false;    ///< `failure` is that its process crashed or did not come to an end
  std::string version;  ///< of the engine
  /// Whether an output was compared; else `blind` says why not.
  bool compared = false;
  std::vector<BlindOutput> blind;  ///< outputs that could not be compared
  std::vector<std::string> notes;  ///< clauses about inputs that show less than others
  double own = 0;                  ///< largest difference of the original from itself, likewise
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

/// Where libonnxruntime.so may be, the best guess first: as LEHR_ONNXRUNTIME says, or the loader's, and what
/// the package onnxruntime of the Python on PATH has.
std::vector<std::string> find_libraries(const ToolPaths& tools);

/// Loads ONNX Runtime into this process and returns its version and path. Throws Error(kEnvironment) that
/// says what to install.
std::string describe_engine(const ToolPaths& tools);

/// In this process: an engine, and what it loads, may take it down. Each model computes the same inputs of
/// each kind (input_kinds()) twice; then they are timed in turns of some inferences, and those that are asked
/// tell where their time goes; they write files whose paths begin with `scratch`. Never throws for what
/// engine or models do.
TrialReport try_models(const TrialRequest& request, const std::string& scratch);

/// The same in a process of its own, `lehr engine REQUEST REPORT`, which may take `limit_s` seconds and is
/// ended once `stop` is set.
TrialReport try_models_apart(const TrialRequest& request, const ToolPaths& tools, double limit_s,
                             const std::atomic<bool>* stop = nullptr);

/// main() of that process: reads the request's file, writes the report's.
int trial_main(const std::string& request, const std::string& report);

/// Two models in the turns that both had.
struct Beside {
  /// Medians over the turns whose ratio is a usual one, within the interval of the ratios' median: those that
  /// a busy machine slowed down for one of both are not among them.
  double one_us = 0, other_us = 0;
  Ratio speedup;  ///< how many times as fast the one is as the other: of these times, with that interval
};
/// Zeros where either has no turns.
Beside beside(const ModelTrial& one, const ModelTrial& other);
/// Its speedup's value.
double speedup(const ModelTrial& one, const ModelTrial& other);
/// Median of the turns; microseconds, 0 where there are none.
double median_us(const ModelTrial& trial);

}  // namespace lehr::onnxruntime
