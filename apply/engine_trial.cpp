#include "apply/engine_trial.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "network/index_ranges.h"

namespace lehr {
namespace {

/// Seconds added to the time limit of a trial, for loading, comparing, and timings that take longer than
/// intended.
constexpr double kOverheadS = 300;

/// Returns the shapes of the inputs. A shape that the bindings give for a whole input is used as it is. For
/// other inputs, sizes that the model leaves open come from the bindings. Sizes that the bindings leave open,
/// too, are 1.
std::map<std::string, std::vector<std::int64_t>> input_shapes(const OnnxModel& model,
                                                              const ShapeBindings& bindings) {
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (const OnnxValueInfo& input : model.inputs) {
    const std::string name(input.name);
    if (const auto whole = bindings.inputs.find(name); whole != bindings.inputs.end()) {
      shapes[name] = whole->second;
      continue;
    }
    if (!input.dims) continue;
    for (const OnnxDim& dim : *input.dims) {
      const auto bound = bindings.dims.find(std::string(dim.name));
      shapes[name].push_back(dim.size ? *dim.size : bound != bindings.dims.end() ? bound->second : 1);
    }
  }
  return shapes;
}

Proof proof_of(const onnxruntime::TrialReport& report) {
  if (report.died) return Proof::kWrong;
  if (!report.failure.empty()) return Proof::kNone;
  if (!report.models.at(0).failure.empty()) return Proof::kOpen;
  for (std::size_t i = 1; i < report.models.size(); ++i)
    if (!report.models[i].failure.empty()) return Proof::kWrong;
  return report.compared ? Proof::kRight : Proof::kOpen;
}

std::vector<std::string> clauses(const onnxruntime::TrialReport& report) {
  std::vector<std::string> result;
  for (const onnxruntime::BlindOutput& each : report.blind) result.push_back(clause(each));
  return result;
}

std::string why_unproved(const onnxruntime::TrialReport& report) {
  if (!report.failure.empty()) return report.failure;
  if (!report.models.at(0).failure.empty())
    return fmt::format("the original does not run: {}", report.models[0].failure);
  for (const onnxruntime::ModelTrial& model : report.models)
    if (!model.failure.empty()) return model.failure;
  if (report.compared) return "";
  return fmt::format("nothing was compared: {}", fmt::join(clauses(report), "; "));
}

}  // namespace

bool is_quantized(const Network& network) {
  return std::ranges::any_of(network.matches.workloads, [](const MatchedWorkload& matched) {
    return accum_of(matched.workload) == DType::kS32;
  });
}

std::map<std::string, std::vector<std::int64_t>> tried_shapes(const Network& network,
                                                              const EngineCheck& check) {
  auto shapes = input_shapes(network.model, check.bindings);
  for (const onnxruntime::FedInput& fed : check.fed) shapes[fed.name] = fed.shape;
  return shapes;
}

std::string why_no_engine(const EngineCheck& check) {
  onnxruntime::TrialRequest request;
  request.libraries = check.libraries;
  return onnxruntime::try_models_apart(request, check.tools, kOverheadS, check.stop).failure;
}

EngineVerdict verdict_of(const onnxruntime::TrialReport& report, std::size_t reported) {
  EngineVerdict verdict;
  verdict.proof = proof_of(report);
  verdict.failure = why_unproved(report);
  verdict.engine = report.version;
  verdict.uncompared = clauses(report);
  verdict.notes = report.notes;
  verdict.own = report.own;
  if (report.models.size() <= reported) return verdict;  // the engine crashed
  const onnxruntime::ModelTrial &original = report.models[0], &rewritten = report.models[reported];
  verdict.worst = rewritten.worst;
  verdict.worst_output = rewritten.worst_output;
  verdict.outputs = rewritten.outputs;
  const onnxruntime::Beside times = onnxruntime::beside(rewritten, original);
  verdict.original_us = times.other_us;
  verdict.rewritten_us = times.one_us;
  verdict.speedup = times.speedup;
  verdict.original_nodes = original.nodes;
  verdict.rewritten_nodes = report.models[1].nodes;
  return verdict;
}

namespace {

/// Returns the request of a trial, with everything but the networks.
onnxruntime::TrialRequest request_for(const Network& network, const EngineCheck& check) {
  onnxruntime::TrialRequest request;
  request.libraries = check.libraries;
  request.threads = check.threads;
  request.seed = check.seed;
  request.shapes = input_shapes(network.model, check.bindings);
  request.ranges = index_ranges(network.model, network.shapes);
  request.fed = check.fed;
  const bool quantized = is_quantized(network);
  request.rules = {check.tolerance.value_or(quantized ? kWholesTolerance : kUsualTolerance),
                   check.outputs_vary, quantized};
  return request;
}

}  // namespace

onnxruntime::TrialReport try_networks(const Network& network,
                                      const std::vector<onnxruntime::ModelFile>& rewritten,
                                      const EngineCheck& check, double seconds, bool all_kinds,
                                      std::size_t profiled) {
  onnxruntime::TrialRequest request = request_for(network, check);
  request.models = {{check.original, ""}};
  request.models.insert(request.models.end(), rewritten.begin(), rewritten.end());
  request.all_kinds = all_kinds;
  request.seconds = seconds;
  request.profiled = profiled;
  return onnxruntime::try_models_apart(request, check.tools, seconds + kOverheadS, check.stop);
}

onnxruntime::TrialReport try_alone(const Network& network, const onnxruntime::ModelFile& file,
                                   const EngineCheck& check) {
  onnxruntime::TrialRequest request = request_for(network, check);
  request.models = {file};
  request.all_kinds = false;
  return onnxruntime::try_models_apart(request, check.tools, kOverheadS, check.stop);
}

}  // namespace lehr
