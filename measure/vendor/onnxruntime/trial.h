// Models beside each other in ONNX Runtime: whether they compute the same, and how long each takes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/describe.h"
#include "measure/core/backend.h"

namespace lehr::onnxruntime {

struct ModelFile {
  std::string path;
  std::string plugin;  ///< "": none
};
void describe(auto& field, Is<ModelFile> auto& file) {
  field("path", file.path);
  field("plugin", file.plugin);
}

struct TrialRequest {
  std::vector<std::string> libraries;  ///< find_libraries()
  std::vector<ModelFile> models;       ///< the first is what the others are compared with
  int threads = 1;
  std::uint64_t seed = 0;                                   ///< of random inputs
  std::map<std::string, std::vector<std::int64_t>> shapes;  ///< of inputs; others' open dimensions are 1
  double seconds = 0;  ///< in which they are timed in turns; 0: they are not
};
void describe(auto& field, Is<TrialRequest> auto& request) {
  field("libraries", request.libraries);
  field("models", request.models);
  field("threads", request.threads);
  field("seed", request.seed);
  field("shapes", request.shapes);
  field("seconds", request.seconds);
}

struct ModelTrial {
  std::string failure;  ///< why it did not run; "": it did
  double worst = 0;  ///< largest difference from the first model's outputs, as a share of an output's range
  std::string worst_output;     ///< in which output
  std::vector<double> turn_us;  ///< of each turn, the time of an inference
};
void describe(auto& field, Is<ModelTrial> auto& trial) {
  field("failure", trial.failure);
  field("worst", trial.worst);
  field("worst_output", trial.worst_output);
  field("turn_us", trial.turn_us);
}

struct TrialReport {
  std::string failure;  ///< of the engine itself
  bool died = false;    ///< `failure` is that its process crashed or did not come to an end
  std::string version;  ///< of the engine
  std::vector<ModelTrial> models;
};
void describe(auto& field, Is<TrialReport> auto& report) {
  field("failure", report.failure);
  field("died", report.died);
  field("version", report.version);
  field("models", report.models);
}

/// Where libonnxruntime.so may be, the best guess first: as LEHR_ONNXRUNTIME says, or the loader's, and what
/// the package onnxruntime of the Python on PATH has.
std::vector<std::string> find_libraries(const ToolPaths& tools);

/// In this process: an engine, and what it loads, may take it down. Each model computes the same random input
/// (normal for f32, small whole numbers else) twice; then they are timed in turns of some inferences. Never
/// throws for what engine or models do.
TrialReport try_models(const TrialRequest& request);

/// The same in a process of its own, `executable engine REQUEST REPORT`, which may take `limit_s` seconds.
TrialReport try_models_apart(const TrialRequest& request, const std::string& executable, double limit_s);

/// main() of that process: reads the request's file, writes the report's.
int trial_main(const std::string& request, const std::string& report);

/// Median of the ratios per turn: how many times as fast `one` is as `other`. 0 where either has no turns.
double speedup(const ModelTrial& one, const ModelTrial& other);
/// Median of the turns; microseconds, 0 where there are none.
double median_us(const ModelTrial& trial);

}  // namespace lehr::onnxruntime
