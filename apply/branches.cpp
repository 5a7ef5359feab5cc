#include "apply/branches.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <unordered_set>
#include <vector>

#include "apply/constants_file.h"
#include "apply/graph_bytes.h"
#include "apply/renamed.h"
#include "base/error.h"
#include "network/protobuf.h"

namespace lehr {
namespace {

// Field numbers of ModelProto (first declaration) and of GraphProto (second declaration).
constexpr std::uint32_t kIrVersion = 1, kGraph = 7;
constexpr std::uint32_t kNode = 1, kName = 2, kConstant = 5, kInput = 11, kOutput = 12, kBetween = 13,
                        kAnnotation = 14, kSparse = 15;
/// Oldest IR version in which constants need not be listed among the inputs.
constexpr std::int64_t kLeastIrVersion = 4;
/// kSequenceOpset is the oldest opset in which an If returns sequences. kRangeOpset is the oldest opset in
/// which Less takes s64.
constexpr std::int64_t kSequenceOpset = 13, kRangeOpset = 9;
/// Name of the node with both branches.
constexpr std::string_view kBranchesName = "lehr.sizes";

std::string_view graph_in(std::string_view model) {
  for (Wire wire(model); wire.next();)
    if (wire.field() == kGraph) return wire.bytes();
  throw_user("the network has no graph");
}

std::string_view message_of(std::string_view record) {
  Wire wire(record);
  wire.next();
  return wire.bytes();
}

/// Returns the kind of a value's type as the number of TypeProto's field: 1 for a tensor, 4 for a sequence.
/// Returns 0 if the type is not stated.
std::uint32_t kind_of(const OnnxValueInfo& value) {
  for (Wire wire(message_of(value.record)); wire.next();)
    if (wire.field() == 2)
      for (Wire type(wire.bytes()); type.next();)
        if (type.field() != 6) return type.field();  // the denotation
  return 0;
}

class Branches {
 public:
  Branches(const OnnxModel& original, const OnnxModel& rewritten, std::string_view constants_path)
      : original_(original), rewritten_(rewritten), file_(constants_path) {
    for (const OnnxModel* model : {&original, &rewritten}) add_names(graph_in(*model->bytes), names_);
    for (const OnnxTensor& constant : original.constants)
      if (!constant.overridable) fixed_.insert(constant.name);
    for (const OnnxValueInfo& input : original.inputs)
      if (!fixed_.contains(input.name)) outer_.insert(input.name);
    std::unordered_set<std::string_view> made;
    for (const OnnxNode& node : original.nodes) made.insert(node.outputs.begin(), node.outputs.end());
    for (const OnnxValueInfo& output : original.outputs) {
      outputs_.insert(output.name);
      if (outer_.contains(output.name) || renames_.contains(output.name)) continue;
      renames_[output.name] = unique(fmt::format("{}.branch", output.name));
      if (!made.contains(output.name)) continue;
      made_.push_back(output.name);
    }
  }

  BranchedModel run(std::span<const SizeCheck> checks) {
    const SizeCondition condition =
        size_condition(original_, checks, [&](std::string_view name) { return unique(std::string(name)); });
    const std::string graph = outer_graph(condition);
    std::string bytes = number_field(kIrVersion, std::max(original_.ir_version, kLeastIrVersion));
    for (Wire wire(*rewritten_.bytes); wire.next();) {
      if (wire.field() == kGraph)
        bytes += bytes_field(kGraph, graph);
      else if (wire.field() != kIrVersion)
        bytes += wire.record();
    }
    return {std::move(bytes), file_.take_bytes()};
  }

 private:
  std::string unique(std::string name) {
    while (!names_.insert(name).second) name += "_";
    return name;
  }

  /// Returns the outer graph: the condition and the If node.
  std::string outer_graph(const SizeCondition& condition) {
    std::string bytes;
    std::size_t constant = 0, input = 0;
    for (Wire wire(graph_in(*original_.bytes)); wire.next();) {
      const bool stays = [&] {
        switch (wire.field()) {
          case kConstant:
          case kSparse: {
            const OnnxTensor& tensor = original_.constants[constant++];
            return tensor.overridable || outputs_.contains(tensor.name);
          }
          case kInput:
            return outer_.contains(original_.inputs[input++].name);
          case kNode:
          case kBetween:
          case kAnnotation:
            return false;
          default:
            return true;
        }
      }();
      if (stays) bytes += wire.record();
    }
    return bytes + condition.fields + both(condition.name);
  }

  std::string both(std::string_view condition) {
    constexpr std::int64_t kGraphAttribute = 5;
    std::string node = bytes_field(1, condition) + bytes_field(3, kBranchesName) + bytes_field(4, "If");
    for (const std::string_view output : made_) node += bytes_field(2, output);
    const auto add = [&](const char* name, const OnnxModel& model) {
      node += bytes_field(
          5, bytes_field(1, name) + bytes_field(6, branch(model, name)) + number_field(20, kGraphAttribute));
    };
    add("then_branch", rewritten_), add("else_branch", original_);
    return bytes_field(kNode, node);
  }

  std::string branch(const OnnxModel& model, std::string_view name) {
    std::string bytes = bytes_field(kName, name);
    std::size_t node = 0, constant = 0, output = 0, between = 0;
    for (Wire wire(graph_in(*model.bytes)); wire.next();) {
      switch (wire.field()) {
        case kNode:
          bytes += node_field(model.nodes[node++], wire);
          break;
        case kConstant:
          bytes += constant_field(model.constants[constant++], wire);
          break;
        case kSparse:
          if (!model.constants[constant++].overridable) bytes += renamed_field(wire, renames_);
          break;
        case kOutput:
          if (std::ranges::find(made_, model.outputs[output].name) != made_.end() &&
              is_first(model.outputs, output))
            bytes += renamed_field(wire, renames_);
          ++output;
          break;
        case kBetween:
          if (!outer_.contains(model.between[between++].name)) bytes += renamed_field(wire, renames_);
          break;
        case kAnnotation:
          bytes += renamed_field(wire, renames_);
          break;
        default:
          break;
      }
    }
    return bytes;
  }

  /// Whether outputs[at] is the first output with its name: a network may return one value twice.
  static bool is_first(const std::vector<OnnxValueInfo>& outputs, std::size_t at) {
    return std::ranges::find(outputs, outputs[at].name, &OnnxValueInfo::name) - outputs.begin() ==
           static_cast<std::ptrdiff_t>(at);
  }

  /// Returns a node as a field of a branch. A Constant node with a large tensor becomes a constant of the
  /// graph, so that both branches share its elements in the file.
  std::string node_field(const OnnxNode& node, const Wire& wire) {
    if (node.op == "Constant" && node.domain.empty() && node.outputs.size() == 1 &&
        !renames_.contains(node.outputs[0]))
      for (const OnnxAttribute& attribute : node.attributes)
        if (attribute.name == "value" && attribute.tensor && ConstantsFile::is_large(*attribute.tensor))
          return constant_of(node.outputs[0], *attribute.tensor);
    const auto is_renamed = [&](std::string_view value) { return renames_.contains(value); };
    return std::ranges::any_of(node.inputs, is_renamed) || std::ranges::any_of(node.outputs, is_renamed) ||
                   std::ranges::any_of(node.captured, is_renamed)
               ? renamed_field(wire, renames_)
               : std::string(wire.record());
  }

  std::string constant_of(std::string_view name, const OnnxTensor& tensor) {
    std::string unnamed;
    for (const std::int64_t dim : tensor.dims) unnamed += number_field(1, dim);
    unnamed += number_field(2, static_cast<std::int64_t>(tensor.type)) + bytes_field(8, name);
    return bytes_field(kConstant, file_.moved(tensor, unnamed));
  }

  std::string constant_field(const OnnxTensor& constant, const Wire& wire) {
    if (constant.overridable) return {};
    const std::string field = bytes_field(kConstant, file_.moved(constant, wire.bytes()));
    if (!renames_.contains(constant.name)) return field;
    Wire moved(field);
    moved.next();
    return renamed_field(moved, renames_);
  }

  const OnnxModel &original_, &rewritten_;
  ConstantsFile file_;
  std::unordered_set<std::string> names_;
  std::unordered_set<std::string_view> fixed_;    ///< constants that callers cannot override
  std::unordered_set<std::string_view> outer_;    ///< values that callers give
  std::unordered_set<std::string_view> outputs_;  ///< the network's outputs
  std::vector<std::string_view> made_;            ///< values that nodes make, each once
  Renames renames_;                               ///< new names of outputs within the branches
};

}  // namespace

void expect_branches(const OnnxModel& model, std::span<const SizeCheck> checks) {
  if (checks.empty()) return;
  const std::int64_t opset = model.opset();
  const bool has_range = std::ranges::any_of(checks, [](const auto& each) { return each.least < each.most; });
  if (has_range && opset < kRangeOpset)
    throw_user("the model is of opset {}, whose Less takes no sizes: a range of them needs {} or newer",
               opset, kRangeOpset);
  for (const OnnxValueInfo& output : model.outputs) {
    constexpr std::uint32_t kTensor = 1, kSequence = 4;
    const std::uint32_t kind = kind_of(output);
    if (kind > kTensor && (kind != kSequence || opset < kSequenceOpset))
      throw_user(
          "'{}' is no tensor, and an If of opset {} gives no such value: state the sizes in the model's "
          "inputs",
          output.name, opset);
  }
}

BranchedModel branched(const OnnxModel& original, const std::string& rewritten,
                       std::span<const SizeCheck> checks, std::string_view constants_path) {
  const OnnxModel then = parse_onnx(std::make_shared<const std::string>(rewritten), "the rewritten network");
  return Branches(original, then, constants_path).run(checks);
}

BranchedModel in_form(const OnnxModel& original, RewrittenModel rewritten, const NetworkForm& form) {
  if (form.checks.empty() || rewritten.replaced == 0) return {std::move(rewritten.bytes), ""};
  return branched(original, rewritten.bytes, form.checks, form.constants_path);
}

namespace {

/// Returns the name of the node that has the branches; "" if the graph has none.
std::string_view branches_in(std::string_view graph) {
  for (Wire wire(graph); wire.next();) {
    if (wire.field() != kNode) continue;
    for (Wire node(wire.bytes()); node.next();)
      if (node.field() == 3 && node.bytes() == kBranchesName) return wire.bytes();
  }
  return {};
}

struct FirstBranch {
  std::string_view graph;
  std::vector<std::string_view> outputs;  ///< outputs of the node
};

FirstBranch first_branch(std::string_view node) {
  FirstBranch first;
  for (Wire wire(node); wire.next();) {
    if (wire.field() == 2) first.outputs.push_back(wire.bytes());
    if (wire.field() != 5 || !first.graph.empty()) continue;
    for (Wire attribute(wire.bytes()); attribute.next();)
      if (attribute.field() == 6) first.graph = attribute.bytes();
  }
  return first;
}

std::string unbranched_graph(std::string_view graph, const FirstBranch& first) {
  std::string bytes;
  std::unordered_set<std::string_view> outer;
  const auto name_of = [](const Wire& wire) {
    for (Wire part(wire.bytes()); part.next();)
      if (part.field() == (wire.field() == kConstant ? 8u : 1u)) return part.bytes();
    return std::string_view();
  };
  for (Wire wire(graph); wire.next();)
    if (wire.field() == kInput || wire.field() == kOutput) outer.insert(name_of(wire));
  for (Wire wire(graph); wire.next();)
    if (wire.field() != kNode && (wire.field() != kConstant || outer.contains(name_of(wire))))
      bytes += wire.record();
  Renames renames;
  std::size_t output = 0;
  for (Wire wire(first.graph); wire.next();)
    if (wire.field() == kOutput && output < first.outputs.size())
      renames[name_of(wire)] = first.outputs[output++];
  for (Wire wire(first.graph); wire.next();)
    if (wire.field() != kName && wire.field() != kOutput) bytes += renamed_field(wire, renames);
  return bytes;
}

}  // namespace

std::optional<std::string> unbranched(const std::string& model) {
  const std::string_view graph = graph_in(model), node = branches_in(graph);
  if (node.empty()) return std::nullopt;
  // Somebody may have changed the file. parse_onnx() refuses files whose subgraphs are nested too deeply.
  parse_onnx(std::make_shared<const std::string>(model), "the network");
  std::string bytes;
  for (Wire wire(model); wire.next();)
    bytes += wire.field() == kGraph ? bytes_field(kGraph, unbranched_graph(graph, first_branch(node)))
                                    : std::string(wire.record());
  return bytes;
}

}  // namespace lehr
