#include "apply/match_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <unordered_set>
#include <utility>

#include "apply/graph_bytes.h"
#include "apply/rewrite.h"
#include "network/layouts.h"
#include "network/protobuf.h"

namespace lehr {
namespace {

// Field numbers: kGraphField of ModelProto, kOutputField of GraphProto.
constexpr std::uint32_t kGraphField = 7, kOutputField = 12;
/// Upper limit of the bytes of outputs that are compared in one trial, since an engine holds them for each
/// kind of inputs. A single larger output is a trial of its own.
constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;

std::string blind_text(const std::vector<onnxruntime::BlindOutput>& blind, std::size_t kernels) {
  constexpr std::size_t kMostNamed = 5;
  std::string text = fmt::format("{} of {} kernels are not verified", blind.size(), kernels);
  for (std::size_t i = 0; i < std::min(kMostNamed, blind.size()); ++i)
    text += fmt::format("{} {}", i == 0 ? ":" : ";", clause(blind[i]));
  return text + (blind.size() > kMostNamed ? "; ..." : "") + " (--feed gives real inputs)";
}

std::int64_t bytes_of(const GraphShapes& shapes, const std::string& name) {
  std::int64_t bytes = sizeof(float);
  if (const auto shape = whole_shape(shapes.of(name)))
    for (const std::int64_t dim : *shape) bytes *= dim;
  return bytes;
}

std::vector<std::vector<MatchOutput>> in_groups(const GraphShapes& shapes,
                                                const std::vector<MatchOutput>& outputs) {
  std::vector<std::vector<MatchOutput>> groups;
  std::int64_t bytes = kMostBytes;
  for (const MatchOutput& each : outputs) {
    const std::int64_t more = bytes_of(shapes, each.name);
    if (bytes + more > kMostBytes) {
      groups.emplace_back();
      bytes = 0;
    }
    groups.back().push_back(each);
    bytes += more;
  }
  return groups;
}

/// Returns an output that the original does not have; nullptr if the original has all outputs.
const MatchOutput* unknown_output(const OnnxModel& original, const std::vector<MatchOutput>& outputs) {
  std::unordered_set<std::string_view> names;
  for (const OnnxNode& node : original.nodes) names.insert(node.outputs.begin(), node.outputs.end());
  const auto found =
      std::ranges::find_if_not(outputs, [&](const MatchOutput& each) { return names.contains(each.name); });
  return found == outputs.end() ? nullptr : &*found;
}

onnxruntime::TrialReport try_group(const Network& network, const MatchTrial& trial,
                                   const std::vector<MatchOutput>& group, const EngineCheck& check) {
  std::vector<MatchOutput> originals;
  for (const MatchOutput& each : group) originals.push_back({each.name, each.name});
  EngineCheck twin = check;
  twin.original = trial.folder + "/original_matches.onnx";
  if (check.match_tolerance) twin.tolerance = check.match_tolerance;
  twin.outputs_vary = true;
  const std::string other = trial.folder + "/rewritten_matches.onnx";
  std::ofstream(twin.original, std::ios::binary)
      << with_outputs(trial.original.empty() ? *network.model.bytes : trial.original, originals);
  std::ofstream(other, std::ios::binary) << with_outputs(trial.bytes, group);
  onnxruntime::TrialReport report = try_networks(network, {{other, trial.plugin}}, twin, 0, true);
  std::filesystem::remove(twin.original);
  std::filesystem::remove(other);
  return report;
}

OnnxModel parsed(const std::string& rewritten) {
  return parse_onnx(std::make_shared<const std::string>(rewritten), "the rewritten network");
}

std::vector<MatchOutput> kernel_outputs(const OnnxModel& model) {
  std::vector<MatchOutput> outputs;
  for (const OnnxNode& node : model.nodes) {
    if (node.domain != kFusedDomain || !is_fused_operator(node.op)) continue;
    MatchOutput& made =
        outputs.emplace_back(std::string(node.name), std::string(node.outputs.at(0)), true,
                             node.op == fused_operator(DType::kBF16) && node.name != node.outputs[0]);
    if (has_channels_last(parse_workload(node.text("workload", ""))))
      made.order = to_channels_first(static_cast<std::size_t>(node.wholes("output_shapes").at(0)));
    for (std::size_t i = 1; i < node.outputs.size(); ++i)
      outputs.push_back({std::string(node.outputs[i]), std::string(node.outputs[i])});
  }
  return outputs;
}

}  // namespace

std::vector<MatchOutput> match_outputs(const std::string& rewritten) {
  return kernel_outputs(parsed(rewritten));
}

std::vector<MatchOutput> all_match_outputs(const Network& original, const std::string& rewritten) {
  const OnnxModel model = parsed(rewritten);
  std::vector<MatchOutput> outputs = kernel_outputs(model);
  std::unordered_set<std::string_view> made;
  for (const OnnxNode& node : model.nodes)
    if (node.domain != kFusedDomain) made.insert(node.outputs.begin(), node.outputs.end());
  // If a Transpose or a Cast follows a kernel's node, the value with the original's name is the output of the
  // Transpose or Cast. Such a value counts as the kernel's output.
  for (const OnnxNode& node : model.nodes)
    if (node.domain == kFusedDomain) made.erase(node.name);
  for (const MatchedWorkload& matched : original.matches.workloads)
    for (const Match& match : matched.matches)
      for (const std::string_view output : outputs_of(match))
        if (made.contains(output)) outputs.push_back({std::string(output), std::string(output), false});
  return outputs;
}

std::string with_outputs(std::string_view model, std::span<const MatchOutput> values) {
  std::string more;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::string value = values[i].made;
    const auto converted = [&](std::string_view to) {
      return std::exchange(value, fmt::format("lehr.output.{}.{}", i, to));
    };
    if (values[i].narrow) {
      const std::string from = converted("f32");
      more += cast_record(from, value, OnnxType::kF32);
    }
    if (!values[i].order.empty()) {
      const std::string from = converted("nchw");
      more += transpose_record(from, value, values[i].order);
    }
    more += bytes_field(kOutputField, bytes_field(1, value));
  }
  std::string bytes;
  for (Wire wire(model); wire.next();) {
    if (wire.field() != kGraphField) {
      bytes += wire.record();
      continue;
    }
    std::string graph;
    for (Wire field(wire.bytes()); field.next();)
      if (field.field() != kOutputField) graph += field.record();
    bytes += bytes_field(kGraphField, graph + more);
  }
  return bytes;
}

MatchTrial beside_trial(const Network& network, std::span<const Replacement> replacements,
                        const NodeForm& form) {
  constexpr const char* kKernel = ".kernel";
  NodeForm beside = form;
  beside.beside = kKernel;
  MatchTrial trial;
  trial.bytes = rewrite(network.model, network.shapes, replacements, beside).bytes;
  std::string copies;
  for (const Replacement& each : replacements)
    for (const std::string_view value : outputs_of(*each.match)) {
      const std::string name(value), copy = fmt::format("{}{}", name, kCopiedOutput);
      copies += node_record("Identity", {name}, copy);
      trial.outputs.push_back({name, name, false});
      trial.outputs.push_back({copy, name + kKernel});
    }
  for (Wire wire(*network.model.bytes); wire.next();)
    trial.original += wire.field() == kGraphField
                          ? bytes_field(kGraphField, std::string(wire.bytes()) + copies)
                          : std::string(wire.record());
  return trial;
}

MatchVerdict compare_matches(const Network& network, const MatchTrial& trial, const EngineCheck& check) {
  MatchVerdict all = {.proof = Proof::kRight};
  const OnnxModel original = parsed(trial.original.empty() ? *network.model.bytes : trial.original);
  if (const MatchOutput* unknown = unknown_output(original, trial.outputs))
    return {.proof = Proof::kWrong,
            .failure = fmt::format("a kernel makes '{}', which the original does not have", unknown->name)};
  for (const std::vector<MatchOutput>& group : in_groups(network.shapes, trial.outputs)) {
    const onnxruntime::TrialReport report = try_group(network, trial, group, check);
    const EngineVerdict one = verdict_of(report);
    std::size_t kernels = 0;
    for (const MatchOutput& each : group) {
      const auto blind = std::ranges::find(report.blind, each.name, &onnxruntime::BlindOutput::name);
      if (each.by_kernel && blind != report.blind.end()) all.blind.push_back(*blind);
      kernels += each.by_kernel && blind == report.blind.end();
    }
    const bool is_blind = one.proof == Proof::kOpen && !report.blind.empty();
    if (one.proof != Proof::kRight && !is_blind) {
      all.proof = one.proof;
      all.failure = fmt::format("of the matches' own outputs, {}", one.failure);
      return all;
    }
    all.compared += kernels;
    if (one.worst > all.worst) {
      all.worst = one.worst;
      all.worst_output = one.worst_output;
    }
  }
  if (all.blind.empty()) return all;
  all.proof = Proof::kOpen;
  all.failure = blind_text(all.blind, all.blind.size() + all.compared);
  return all;
}

bool are_compared_apart(const Network& network, std::span<const Replacement> replacements) {
  return is_quantized(network) &&
         std::ranges::any_of(replacements, [](const Replacement& each) { return each.match->by_rows; });
}

MatchVerdict compare_apart(const Network& network, std::span<const Replacement> replacements,
                           const NodeForm& form, const MatchTrial& where, const EngineCheck& check) {
  std::vector<Replacement> rows, others;
  for (const Replacement& each : replacements) (each.match->by_rows ? rows : others).push_back(each);
  MatchTrial trial = where;
  trial.bytes = rewrite(network.model, network.shapes, others, form).bytes;
  trial.outputs = match_outputs(trial.bytes);
  MatchVerdict all = compare_matches(network, trial, check);
  if (all.proof == Proof::kWrong) return all;
  trial = beside_trial(network, rows, form);
  trial.plugin = where.plugin;
  trial.folder = where.folder;
  const MatchVerdict beside = compare_matches(network, trial, check);
  all.compared += beside.compared;
  all.blind.insert(all.blind.end(), beside.blind.begin(), beside.blind.end());
  if (beside.worst > all.worst) {
    all.worst = beside.worst;
    all.worst_output = beside.worst_output;
  }
  if (all.proof == Proof::kRight || beside.proof == Proof::kWrong) {
    all.proof = beside.proof;
    all.failure = beside.failure;
  }
  return all;
}

}  // namespace lehr
