#include "network/matches.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <variant>

#include "base/error.h"
#include "network/elementwise.h"
#include "network/linear.h"
#include "network/problems.h"
#include "network/quantized.h"
#include "network/row_regions.h"
#include "workload/operator.h"

namespace lehr {
namespace {

using Found = FoundMatch;
/// Upper limit of the bytes of new constants for all matches. A short file could demand more, since many
/// nodes may share one tensor.
constexpr std::size_t kMostMadeBytes = std::size_t{64} << 20;
/// Least bytes that a region must read and write (2 048 elements of f32). On smaller regions a kernel saves
/// no noticeable time.
constexpr double kLeastRegionBytes = 4 * 2048;
using Start = std::variant<Found, Gap>;

/// Finds the workloads of a graph.
class Finder {
 public:
  Finder(const OnnxModel& model, const GraphShapes& shapes, const IsServed& is_served)
      : model_(model),
        shapes_(shapes),
        constants_(model, shapes),
        is_served_(is_served),
        readers_(readers_of(model)),
        taken_(model.nodes.size()) {
    for (std::size_t i = 0; i < model.nodes.size(); ++i)
      for (const std::string_view output : model.nodes[i].outputs) makers_.emplace(output, i);
  }

  Matches run() {
    for (std::size_t i = 0; i < model_.nodes.size(); ++i) {
      const OnnxNode& node = model_.nodes[i];
      if (taken_[i] || node.outputs.empty() || node.outputs[0].empty()) continue;
      std::optional<Start> start = quantized_match(open_, i);
      const bool whole = start.has_value();
      if (!whole) start = start_at(node);
      if (!start) continue;
      if (Gap* gap = std::get_if<Gap>(&*start)) {
        gap->node = i;
        matches_.gaps.push_back(std::move(*gap));
        continue;
      }
      Found& found = std::get<Found>(*start);
      for (const auto& [input, constant] : found.match.made) made_bytes_ += constant.bytes.size();
      if (made_bytes_ > kMostMadeBytes + model_.bytes->size()) {
        matches_.gaps.push_back(
            {"the network has more scales, or weights that it quantizes itself, than are read",
             flops_of(found.workload), i});
        continue;
      }
      if (!whole) {
        found.match.nodes = {i};
        found.match.output = node.outputs[0];
        follow(found);
      }
      keep(std::move(found));
    }
    add_regions();
    std::ranges::stable_sort(matches_.workloads, std::greater(),
                             [](const MatchedWorkload& matched) { return flops_of(matched); });
    return std::move(matches_);
  }

 private:
  bool is_constant(std::string_view name) const { return shapes_.of(name).fixed; }
  std::optional<Sizes> shape(std::string_view name) const { return whole_shape(shapes_.of(name)); }

  // Returns the workload or the gap that begins at a node; nullopt if the node is no convolution or product.
  std::optional<Start> start_at(const OnnxNode& node) const {
    const auto gap = [](std::string reason) { return Start(Gap{std::move(reason)}); };
    if (!node.domain.empty()) return std::nullopt;
    if (node.op == "Conv") return conv(node);
    if (node.op == "Gemm") return gemm(node);
    if (node.op == "MatMul") return matmul(node);
    if (node.op == "ConvTranspose") return gap("transposed convolutions have no family");
    if (node.op == "LSTM" || node.op == "GRU" || node.op == "RNN")
      return gap("recurrent layers have no family");
    if (node.op == "Einsum") return gap("Einsum is not taken apart");
    if (node.op == "ConvInteger" || node.op == "MatMulInteger")
      return gap("its operands are quantized at run time, which has no workload");
    return std::nullopt;
  }

  // Returns the type of the values if all have the same served type; else a clause with the reason.
  std::variant<DType, std::string> type_of(std::initializer_list<std::string_view> values) const {
    const OnnxType type = shapes_.of(*values.begin()).type;
    for (const std::string_view value : values)
      if (shapes_.of(value).type != type && shapes_.of(value).type != OnnxType::kUnknown)
        return fmt::format("it mixes {} and {}", name_of(type), name_of(shapes_.of(value).type));
    const auto known = dtype_of(type);
    if (!known) return fmt::format("it computes in {}", name_of(type));
    return *known;
  }

  Start conv(const OnnxNode& node) const {
    const auto known = conv_problem(node, shape(node.input(0)), shape(node.input(1)));
    if (const auto* reason = std::get_if<std::string>(&known)) return Gap{*reason};
    const auto type = type_of({node.input(0), node.input(1)});
    if (const auto* reason = std::get_if<std::string>(&type)) return Gap{*reason};
    Conv2d problem = std::get<Conv2d>(known);
    problem.input = problem.filter = problem.output = std::get<DType>(type);
    problem.accum = sums_for(problem.input);
    Found found{{problem, {}}, match_of(node)};
    if (!is_constant(node.input(1))) return Gap{"its filter is computed", flops_of(found.workload)};
    if (!node.input(2).empty()) add_step(found, {.op = EpilogueOp::kBias}, node.input(2));
    return checked(std::move(found));
  }

  Start gemm(const OnnxNode& node) const {
    const auto known = gemm_problem(node, shape(node.input(0)), shape(node.input(1)));
    if (const auto* reason = std::get_if<std::string>(&known)) return Gap{*reason};
    const Gemm& problem = std::get<Gemm>(known);
    Start start = product_of(node, problem);
    Found* const found = std::get_if<Found>(&start);
    if (found == nullptr || node.input(2).empty()) return start;
    if (node.number("beta", 1) != 1) return Gap{"its C is scaled", flops_of(found->workload)};
    const auto c = shape(node.input(2));
    if (c && is_per_channel(*c, problem.n, 1)) {
      add_step(*found, {.op = EpilogueOp::kBias}, node.input(2));
    } else if (c && *c == Sizes{problem.m, problem.n}) {
      add_step(*found, {.op = EpilogueOp::kResidual}, node.input(2));
    } else {
      return Gap{"its C is neither one row nor a whole matrix", flops_of(found->workload)};
    }
    return start;
  }

  Start matmul(const OnnxNode& node) const {
    const auto known = matmul_problem(shape(node.input(0)), shape(node.input(1)));
    if (const auto* reason = std::get_if<std::string>(&known)) return Gap{*reason};
    return product_of(node, std::get<Gemm>(known));
  }

  Start product_of(const OnnxNode& node, Gemm problem) const {
    const auto type = type_of({node.input(0), node.input(1)});
    if (const auto* reason = std::get_if<std::string>(&type)) return Gap{*reason};
    problem.a.type = problem.b.type = problem.c.type = std::get<DType>(type);
    problem.accum = sums_for(problem.a.type);
    problem.b.constant = is_constant(node.input(1));
    return checked({{problem, {}}, match_of(node)});
  }

  static Match match_of(const OnnxNode& node) {
    Match match;
    match.inputs = {node.input(0), node.input(1)};
    return match;
  }

  static Start checked(Found found) {
    try {
      validate(found.workload);
    } catch (const Error& error) {
      return Gap{error.what()};
    }
    return found;
  }

  static void add_step(Found& found, EpilogueStep step, std::string_view operand = {}) {
    found.workload.epilogue.steps.push_back(step);
    if (!operand.empty()) found.match.inputs.push_back(operand);
  }

  // Adds following nodes to the match as long as the epilogue can include the next node.
  void follow(Found& found) {
    while (take_linear(found) || take_sum(found) || take_scaling(found) || take_function(found)) {
    }
    take_pool(found);
  }

  // Returns the only node that reads the match's current output; nullopt if there are several readers or
  // none.
  std::optional<std::size_t> only_reader(const Found& found) const {
    const auto readers = readers_.find(found.match.output);
    if (readers == readers_.end() || readers->second.size() != 1) return std::nullopt;
    const std::size_t reader = readers->second[0];
    if (reader >= model_.nodes.size() || taken_[reader]) return std::nullopt;
    return reader;
  }

  // Adds the step to the match if the workload stays valid, and returns true. Else returns false, and nothing
  // changes.
  bool try_step(Found& found, EpilogueStep step, std::vector<std::string_view> operands,
                const std::vector<std::size_t>& nodes, std::string_view output) {
    Found longer = found;
    longer.workload.epilogue.steps.push_back(step);
    try {
      // The parser decides what is valid. For example, it refuses the same step twice, or a pool before a
      // residual.
      parse_epilogue(to_text(longer.workload.epilogue));
      validate(longer.workload);
    } catch (const Error&) {
      return false;
    }
    for (const std::string_view operand : operands) longer.match.inputs.push_back(operand);
    longer.match.nodes.insert(longer.match.nodes.end(), nodes.begin(), nodes.end());
    longer.match.output = output;
    for (const std::size_t node : nodes) taken_[node] = true;
    found = std::move(longer);
    return true;
  }

  // Whether the match has no step yet, or only a bias. Then linear steps can be folded into the filter and
  // the bias.
  static bool is_linear(const Found& found) {
    const std::vector<EpilogueStep>& steps = found.workload.epilogue.steps;
    return steps.empty() || (steps.size() == 1 && steps[0].op == EpilogueOp::kBias);
  }
  // Whether the next linear node can be folded. It cannot be folded if the bias is computed, which the C of a
  // Gemm may be.
  bool takes_linear(const Found& found) const {
    const std::vector<std::string_view>& inputs = found.match.inputs;
    return is_linear(found) && (inputs.size() < 3 || inputs[2].empty() ||
                                (is_constant(inputs[2]) && is_foldable(constants_, inputs[2])));
  }
  bool is_foldable_behind(const Found& found, const OnnxNode& node) const {
    return is_foldable(constants_, node, found.match.output,
                       static_cast<std::size_t>(channels_of(found.workload)));
  }

  // Folds the node into the bias and, if `filter` is true, into the filter (or B). Each of them is then made
  // from several constants.
  void fold(Found& found, std::size_t node, bool filter) {
    if (filter) found.match.inputs[1] = {};
    if (found.match.inputs.size() > 2) found.match.inputs[2] = {};
    found.match.nodes.push_back(node);
    found.match.linear.push_back(node);
    found.match.output = model_.nodes[node].outputs[0];
    taken_[node] = true;
  }

  // Whether the node is a normalization of a trained network: a scale and a shift per channel.
  bool is_normalization(const Found& found, const OnnxNode& node) const {
    if (!images_of(found.workload) || node.op != "BatchNormalization" || node.inputs.size() != 5 ||
        node.input(0) != found.match.output || node.outputs.size() != 1 ||
        node.whole("training_mode", 0) != 0)
      return false;
    for (std::size_t i = 1; i < 5; ++i)
      if (!is_constant(node.input(i))) return false;
    return node.domain.empty() && is_foldable_behind(found, node);
  }

  // Returns the node's other operand, if the node has two operands and one of them is the match's current
  // output. In a Sub or Div this output must be the first operand. Returns "" for another node.
  std::string_view other_operand(const OnnxNode& node, const Found& found) const {
    if (!node.domain.empty() || node.inputs.size() != 2 || node.outputs.size() != 1) return {};
    if (node.input(0) == node.input(1)) return {};
    if (node.input(0) == found.match.output) return node.input(1);
    return node.op == "Sub" || node.op == "Div" ? std::string_view() : node.input(0);
  }

  // Whether the value is one number for all channels.
  bool is_number(const Found& found, std::string_view value) const {
    const auto own = shape(found.match.output), other = shape(value);
    return own && other && shapes_.of(value).constant != nullptr && other->size() <= own->size() &&
           product(*other, 0, other->size()) == 1;
  }

  bool is_channels_constant(const Found& found, std::string_view value) const {
    const auto own = shape(found.match.output), other = shape(value);
    return own && other && is_constant(value) && other->size() <= own->size() &&
           is_per_channel(*other, channels_of(found.workload), channel_axis(found.workload, own->size()));
  }

  // Whether the node multiplies or divides each channel by a constant.
  bool is_factor(const Found& found, const OnnxNode& node) const {
    if (node.op != "Mul" && node.op != "Div") return false;
    const std::string_view other = other_operand(node, found);
    return !other.empty() && (is_channels_constant(found, other) || is_number(found, other)) &&
           is_foldable_behind(found, node);
  }
  // Whether the node adds or subtracts a constant per channel.
  bool is_summand(const Found& found, const OnnxNode& node) const {
    if (node.op != "Add" && node.op != "Sum" && node.op != "Sub") return false;
    const std::string_view other = other_operand(node, found);
    return !other.empty() && (is_channels_constant(found, other) || is_number(found, other)) &&
           is_foldable_behind(found, node);
  }

  // Takes a linear node that comes before all other steps. It is folded into the filter and the bias.
  bool take_linear(Found& found) {
    const auto reader = only_reader(found);
    if (!reader || !takes_linear(found)) return false;
    const OnnxNode& node = model_.nodes[*reader];
    const bool normalization = is_normalization(found, node), factor = is_factor(found, node);
    if (normalization || factor) {
      const std::string_view filter = model_.nodes[found.match.nodes[0]].input(1);
      if (!is_constant(filter)) return factor && take_alpha(found, *reader);
      if (constants_.find(filter) == nullptr) return false;
      if (factor || !found.workload.epilogue.empty()) {
        fold(found, *reader, true);
        return true;
      }
      if (!try_step(found, {.op = EpilogueOp::kBias}, {""}, {*reader}, node.outputs[0])) return false;
      found.match.inputs[1] = {};
    } else if (!is_summand(found, node)) {
      return false;
    } else if (found.workload.epilogue.empty()) {
      const std::string_view other = other_operand(node, found);
      const bool is_bias = node.op != "Sub" && is_channels_constant(found, other);
      if (!try_step(found, {.op = EpilogueOp::kBias}, {is_bias ? other : ""}, {*reader}, node.outputs[0]))
        return false;
    } else {
      fold(found, *reader, false);
      return true;
    }
    found.match.linear.push_back(*reader);
    return true;
  }

  // Takes a constant factor after a product of two variables, such as the scale of attention's scores.
  bool take_alpha(Found& found, std::size_t reader) {
    const OnnxNode& node = model_.nodes[reader];
    const OnnxTensor* const number = shapes_.of(other_operand(node, found)).constant;
    if (found.workload.op() != Operator::kGemm || !found.workload.epilogue.empty() || !number ||
        element_count(*number) != 1)
      return false;
    const auto value = floats_of(*number, 1);
    if (!value) return false;
    Found scaled = found;
    float& alpha = scaled.workload.gemm().alpha;
    alpha = node.op == "Mul" ? alpha * (*value)[0] : alpha / (*value)[0];
    try {
      validate(scaled.workload);
    } catch (const Error&) {
      return false;
    }
    scaled.match.nodes.push_back(reader);
    scaled.match.output = node.outputs[0];
    taken_[reader] = true;
    found = std::move(scaled);
    return true;
  }

  // Takes all linear nodes after a step that is not linear. Together they become one scale and shift.
  bool take_scaling(Found& found) {
    const auto reader = only_reader(found);
    if (!reader || takes_linear(found)) return false;
    const OnnxNode& node = model_.nodes[*reader];
    if (!is_normalization(found, node) && !is_factor(found, node) && !is_summand(found, node)) return false;
    if (found.workload.epilogue.steps.back().op == EpilogueOp::kScaleShift) {
      found.match.nodes.push_back(*reader);
      found.match.output = node.outputs[0];
      taken_[*reader] = true;
    } else if (!try_step(found, {.op = EpilogueOp::kScaleShift}, {"", ""}, {*reader}, node.outputs[0])) {
      return false;
    }
    found.match.scaling.push_back(*reader);
    return true;
  }

  // Takes a bias after a step that is not linear, or a residual of the same shape.
  bool take_sum(Found& found) {
    const auto reader = only_reader(found);
    if (!reader) return false;
    const OnnxNode& node = model_.nodes[*reader];
    if (node.op != "Add" && node.op != "Sum") return false;
    const std::string_view other = other_operand(node, found);
    if (other.empty()) return false;
    if (is_channels_constant(found, other))
      return try_step(found, {.op = EpilogueOp::kBias}, {other}, {*reader}, node.outputs[0]);
    const auto own = shape(found.match.output), added = shape(other);
    if (!own || !added || *added != *own || shapes_.of(other).type != shapes_.of(found.match.output).type)
      return false;
    return try_step(found, {.op = EpilogueOp::kResidual}, {other}, {*reader}, node.outputs[0]);
  }

  bool take_function(Found& found) {
    const auto step = function_of_value(model_, shapes_, readers_, found.match.output);
    if (!step || std::ranges::any_of(step->nodes, [&](std::size_t node) { return bool(taken_[node]); }))
      return false;
    return try_step(found, step->step, {}, step->nodes, step->output);
  }

  void take_pool(Found& found) {
    const auto reader = only_reader(found);
    if (!reader || !images_of(found.workload)) return;
    const OnnxNode& node = model_.nodes[*reader];
    if (node.outputs.empty()) return;
    const auto step = pool_step(node, shape(found.match.output), shape(node.outputs[0]));
    if (!step) return;
    Workload pooled = found.workload;
    pooled.epilogue.steps.push_back(*step);
    if (is_served_ && !is_served_(pooled)) return;
    try_step(found, *step, {}, {*reader}, node.outputs[0]);
  }

  // Makes matches of regions of the nodes that no match has taken.
  void add_regions() {
    for (RowRegion& region : row_regions(model_, shapes_, readers_, taken_)) {
      Found found;
      try {
        found.workload = parse_workload(region.workload);
        validate(found.workload);
      } catch (const Error&) {
        // The region has more terms, or more reductions that depend on each other, than a row expression may
        // have.
        continue;
      }
      if (min_bytes_of(found.workload) < kLeastRegionBytes) continue;
      if (is_served_ && !is_served_(found.workload)) continue;
      found.match.nodes = std::move(region.nodes);
      found.match.inputs = std::move(region.inputs);
      found.match.output = region.outputs[0];
      found.match.more_outputs.assign(region.outputs.begin() + 1, region.outputs.end());
      found.match.by_rows = true;
      keep(std::move(found));
    }
  }

  void keep(Found found) {
    for (const std::size_t node : found.match.nodes) taken_[node] = true;
    const auto [at, added] = index_.try_emplace(to_text(found.workload), matches_.workloads.size());
    if (added) matches_.workloads.push_back({found.workload, {}});
    matches_.workloads[at->second].matches.push_back(std::move(found.match));
  }

  const OnnxModel& model_;
  const GraphShapes& shapes_;
  const Constants constants_;
  const IsServed& is_served_;
  const Readers readers_;
  std::unordered_map<std::string_view, std::size_t> makers_;
  std::vector<char> taken_;  ///< nodes that are part of a match
  std::size_t made_bytes_ = 0;
  std::unordered_map<const OnnxTensor*, bool> small_;
  const OpenGraph open_{model_, shapes_, readers_, makers_, is_served_, taken_, small_};
  std::unordered_map<std::string, std::size_t> index_;  ///< positions of workloads in matches_, by their text
  Matches matches_;
};

}  // namespace

Matches matches_of(const OnnxModel& model, const GraphShapes& shapes, const IsServed& is_served) {
  return Finder(model, shapes, is_served).run();
}

std::vector<std::string_view> outputs_of(const Match& match) {
  std::vector<std::string_view> outputs = {match.output};
  outputs.insert(outputs.end(), match.more_outputs.begin(), match.more_outputs.end());
  return outputs;
}

double flops_of(const MatchedWorkload& matched) {
  return flops_of(matched.workload) * static_cast<double>(matched.matches.size());
}

}  // namespace lehr
