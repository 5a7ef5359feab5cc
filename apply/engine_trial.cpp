#include "apply/engine_trial.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "apply/rewrite.h"
#include "base/error.h"
#include "base/text.h"
#include "deploy/applied_folder.h"
#include "network/index_ranges.h"
#include "network/protobuf.h"

namespace lehr {
namespace {

/// ModelProto's metadata_props, and the key of the tolerance there.
constexpr std::uint32_t kMetadataField = 14;
constexpr std::string_view kToleranceKey = "lehr.tolerance";

/// Loading, comparing, and turns that take longer than asked for.
constexpr double kOverheadS = 300;

/// The shapes of the inputs as the bindings have them.
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

std::string why_unproved(const onnxruntime::TrialReport& report) {
  if (!report.failure.empty()) return report.failure;
  if (!report.models.at(0).failure.empty())
    return fmt::format("the original does not run: {}", report.models[0].failure);
  for (const onnxruntime::ModelTrial& model : report.models)
    if (!model.failure.empty()) return model.failure;
  if (report.compared) return "";
  return fmt::format("nothing was compared: {}", fmt::join(report.uncompared, "; "));
}

}  // namespace

double usual_tolerance(const Network& network) {
  const bool of_wholes = std::ranges::any_of(network.places.workloads, [](const PlacedWorkload& placed) {
    return accum_of(placed.workload) == DType::kS32;
  });
  return of_wholes ? kWholesTolerance : kUsualTolerance;
}

EngineVerdict verdict_of(const onnxruntime::TrialReport& report) {
  EngineVerdict verdict;
  verdict.proof = proof_of(report);
  verdict.failure = why_unproved(report);
  verdict.engine = report.version;
  verdict.uncompared = report.uncompared, verdict.notes = report.notes;
  verdict.own = report.own;
  if (report.models.size() < 2) return verdict;  // the engine died
  const onnxruntime::ModelTrial &original = report.models[0], &rewritten = report.models[1];
  verdict.worst = rewritten.worst, verdict.worst_output = rewritten.worst_output;
  verdict.outputs = rewritten.outputs;
  verdict.original_us = onnxruntime::median_us(original);
  verdict.rewritten_us = onnxruntime::median_us(rewritten);
  verdict.speedup = onnxruntime::speedup(rewritten, original);
  verdict.original_operators = original.operators, verdict.rewritten_operators = rewritten.operators;
  return verdict;
}

onnxruntime::TrialReport try_networks(const Network& network,
                                      const std::vector<onnxruntime::ModelFile>& rewritten,
                                      const EngineCheck& check, double seconds, bool all_kinds,
                                      std::size_t profiled) {
  onnxruntime::TrialRequest request;
  request.libraries = check.libraries;
  request.models = {{check.original, ""}};
  request.models.insert(request.models.end(), rewritten.begin(), rewritten.end());
  request.threads = check.threads;
  request.seed = check.seed;
  request.shapes = input_shapes(network.model, check.bindings);
  request.ranges = index_ranges(network.model, network.shapes);
  request.fed = check.fed;
  request.all_kinds = all_kinds;
  request.tolerance = check.tolerance.value_or(usual_tolerance(network));
  request.seconds = seconds;
  request.profiled = profiled;
  return onnxruntime::try_models_apart(request, check.tools, seconds + kOverheadS, check.stop);
}

std::optional<int> threads_of_folder(const std::string& folder) {
  try {
    const OnnxModel applied = read_onnx(fmt::format("{}/{}", folder, kAppliedModel));
    for (const OnnxNode& node : applied.nodes)
      if (node.domain == kFusedDomain)
        if (const std::int64_t threads = node.whole("threads", 0); threads > 0)
          return static_cast<int>(threads);
  } catch (const Error&) {
    // The engine is asked for the same file, and what it says counts.
  }
  return std::nullopt;
}

std::string stated_tolerance_bytes(double tolerance) {
  return bytes_field(kMetadataField,
                     bytes_field(1, kToleranceKey) + bytes_field(2, fmt::format("{}", tolerance)));
}

std::optional<double> stated_tolerance(const std::string& folder) {
  std::optional<double> stated;
  std::ifstream file(fmt::format("{}/{}", folder, kAppliedModel), std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  try {
    for (Wire wire(bytes); wire.next();) {
      if (wire.field() != kMetadataField) continue;
      std::string_view key, value;
      for (Wire entry(wire.bytes()); entry.next();) (entry.field() == 1 ? key : value) = entry.bytes();
      if (key == kToleranceKey) stated = parse_number(value);
    }
  } catch (const Error&) {  // the engine says what is wrong with it
  }
  return stated;
}

EngineVerdict try_folder(const Network& network, const std::string& folder, const EngineCheck& check,
                         double seconds) {
  const std::filesystem::path plugin = std::filesystem::path(folder) / kPluginName;
  EngineCheck held = check;
  if (!held.tolerance) held.tolerance = stated_tolerance(folder);
  return verdict_of(
      try_networks(network,
                   {{fmt::format("{}/{}", folder, kAppliedModel),
                     std::filesystem::exists(plugin) ? std::filesystem::absolute(plugin).string() : ""}},
                   held, seconds, true));
}

}  // namespace lehr
