#include "network/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <variant>

#include "base/error.h"
#include "network/elementwise.h"
#include "network/linear.h"

namespace lehr {
namespace {

using Sizes = std::vector<std::int64_t>;

/// A workload on the way, with the place that computes it.
struct Found {
  Workload workload;
  NetworkPlace place;
};
using Start = std::variant<Found, Gap>;

std::int64_t product(const Sizes& sizes, std::size_t begin, std::size_t end) {
  std::int64_t value = 1;
  for (std::size_t i = begin; i < end; ++i)
    if (__builtin_mul_overflow(value, sizes[i], &value)) return -1;
  return value;
}

// Elements that go with the channels of an output whose channels are its dimension `axis` from the end (1:
// the last): (1, c, 1, 1), (c, 1, 1) or, with axis 1, (c).
bool is_per_channel(const Sizes& shape, std::int64_t channels, std::size_t axis) {
  if (shape.size() < axis || product(shape, 0, shape.size()) != channels) return false;
  return shape[shape.size() - axis] == channels;
}

/// Reads a graph for workloads.
class Finder {
 public:
  Finder(const OnnxModel& model, const GraphShapes& shapes, const IsServed& is_served)
      : model_(model),
        shapes_(shapes),
        constants_(model, shapes),
        is_served_(is_served),
        readers_(readers_of(model)),
        taken_(model.nodes.size()) {
    for (const OnnxNode& node : model.nodes)
      if (node.op == "DequantizeLinear") dequantized_.insert(node.outputs.begin(), node.outputs.end());
  }

  NetworkPlaces run() {
    for (std::size_t i = 0; i < model_.nodes.size(); ++i) {
      const OnnxNode& node = model_.nodes[i];
      std::optional<Start> start = taken_[i] ? std::nullopt : start_at(node);
      if (!start) continue;
      if (Gap* gap = std::get_if<Gap>(&*start)) {
        gap->node = i;
        places_.gaps.push_back(std::move(*gap));
        continue;
      }
      Found& found = std::get<Found>(*start);
      found.place.nodes = {i};
      found.place.output = node.outputs[0];
      follow(found);
      keep(std::move(found), i);
    }
    std::ranges::stable_sort(places_.workloads, std::greater(),
                             [](const PlacedWorkload& placed) { return flops_of(placed); });
    return std::move(places_);
  }

 private:
  bool is_constant(std::string_view name) const { return shapes_.of(name).fixed; }
  std::optional<Sizes> shape(std::string_view name) const { return whole_shape(shapes_.of(name)); }

  // nullopt: nothing to compute in earnest.
  std::optional<Start> start_at(const OnnxNode& node) const {
    const auto gap = [](std::string reason) { return Start(Gap{std::move(reason)}); };
    if (!node.domain.empty() || node.outputs.empty() || node.outputs[0].empty()) return std::nullopt;
    if (is_quantized(node) && (node.op == "Conv" || node.op == "Gemm" || node.op == "MatMul"))
      return gap("its operands are dequantized: engines compute it in integers");
    if (node.op == "Conv") return conv(node);
    if (node.op == "Gemm") return gemm(node);
    if (node.op == "MatMul") return matmul(node);
    if (node.op == "ConvTranspose") return gap("transposed convolutions have no family");
    if (node.op == "LSTM" || node.op == "GRU" || node.op == "RNN")
      return gap("recurrent layers have no family");
    if (node.op == "Einsum") return gap("Einsum is not taken apart");
    for (const std::string_view quantized : {"QLinearConv", "ConvInteger", "QLinearMatMul", "MatMulInteger"})
      if (node.op == quantized) return gap("quantized operators have no workload");
    return std::nullopt;
  }

  // The type that all of the tensors have; a clause where they have none that is served.
  std::variant<DType, std::string> type_of(std::initializer_list<std::string_view> values) const {
    const OnnxType type = shapes_.of(*values.begin()).type;
    for (const std::string_view value : values)
      if (shapes_.of(value).type != type && shapes_.of(value).type != OnnxType::kUnknown)
        return fmt::format("it mixes {} and {}", name_of(type), name_of(shapes_.of(value).type));
    const auto known = dtype_of(type);
    if (!known) return fmt::format("it computes in {}", name_of(type));
    return *known;
  }

  // An engine computes what is between these nodes in integers.
  bool is_quantized(const OnnxNode& node) const {
    return std::ranges::any_of(node.inputs,
                               [&](std::string_view input) { return dequantized_.contains(input); });
  }

  Start conv(const OnnxNode& node) const {
    auto image = shape(node.input(0)), filter = shape(node.input(1));
    if (!image || !filter) return Gap{"its shape is not known"};
    if (image->size() < 3 || image->size() > 4 || filter->size() != image->size())
      return Gap{fmt::format("its images have {} dimensions", image->size())};
    const auto spatial = [](const Sizes& sizes) { return std::vector<Dim>(sizes.begin() + 2, sizes.end()); };
    const auto window = window_of(node, spatial(*image), spatial(*filter));
    if (!window) return Gap{"its attributes do not go together"};
    // A signal is an image of height 1.
    for (auto* sizes : {&image, &filter})
      if ((*sizes)->size() == 3) (*sizes)->insert((*sizes)->begin() + 2, 1);
    const auto type = type_of({node.input(0), node.input(1)});
    if (const auto* reason = std::get_if<std::string>(&type)) return Gap{*reason};
    Conv2d problem;
    problem.n = (*image)[0], problem.c = (*image)[1], problem.h = (*image)[2], problem.w = (*image)[3];
    problem.k = (*filter)[0], problem.r = (*filter)[2], problem.s = (*filter)[3];
    problem.stride_h = window->stride[0], problem.stride_w = window->stride[1];
    problem.dilation_h = window->dilation[0], problem.dilation_w = window->dilation[1];
    problem.pad_top = window->before[0], problem.pad_left = window->before[1];
    problem.pad_bottom = window->after[0], problem.pad_right = window->after[1];
    problem.groups = node.whole("group", 1);
    problem.input = problem.filter = problem.output = std::get<DType>(type);
    problem.accum = sums_for(problem.input);
    if (window->kernel[0] != problem.r || window->kernel[1] != problem.s)
      return Gap{"its filter is not of the size that it states"};
    if (problem.groups < 1 || (*filter)[1] * problem.groups != problem.c)
      return Gap{"its groups do not fit its channels"};
    Found found{{problem, {}}, place_of(node)};
    if (!is_constant(node.input(1))) return Gap{"its filter is computed", flops_of(found.workload)};
    if (!node.input(2).empty()) add_step(found, {.op = EpilogueOp::kBias}, node.input(2));
    return checked(std::move(found));
  }

  Start gemm(const OnnxNode& node) const {
    const auto a = shape(node.input(0)), b = shape(node.input(1));
    if (!a || !b) return Gap{"its shape is not known"};
    if (a->size() != 2 || b->size() != 2) return Gap{"its operands are no matrices"};
    const bool a_turned = node.whole("transA", 0) != 0, b_turned = node.whole("transB", 0) != 0;
    Gemm problem;
    problem.m = (*a)[a_turned ? 1 : 0], problem.k = (*a)[a_turned ? 0 : 1],
    problem.n = (*b)[b_turned ? 0 : 1];
    if ((*b)[b_turned ? 1 : 0] != problem.k) return Gap{"its operands do not fit"};
    problem.alpha = node.number("alpha", 1);
    if (a_turned) problem.a.layout = Layout::kColumn;
    if (b_turned) problem.b.layout = Layout::kColumn;
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
    const auto a = shape(node.input(0)), b = shape(node.input(1));
    if (!a || !b) return Gap{"its shape is not known"};
    if (a->size() < 2 || b->size() < 2) return Gap{"one of its operands is a vector"};
    Gemm problem;
    problem.k = a->back(), problem.n = b->back(), problem.m = (*a)[a->size() - 2];
    if ((*b)[b->size() - 2] != problem.k) return Gap{"its operands do not fit"};
    const Sizes a_batch(a->begin(), a->end() - 2), b_batch(b->begin(), b->end() - 2);
    const std::int64_t batch = product(a_batch, 0, a_batch.size());
    if (product(b_batch, 0, b_batch.size()) == 1) {
      // One B for all rows of all batches.
      if (__builtin_mul_overflow(problem.m, batch, &problem.m)) return Gap{"it is too large"};
    } else if (a_batch == b_batch) {
      problem.batch = batch;
    } else {
      return Gap{"its operands are broadcast"};
    }
    return product_of(node, problem);
  }

  Start product_of(const OnnxNode& node, Gemm problem) const {
    const auto type = type_of({node.input(0), node.input(1)});
    if (const auto* reason = std::get_if<std::string>(&type)) return Gap{*reason};
    problem.a.type = problem.b.type = problem.c.type = std::get<DType>(type);
    problem.accum = sums_for(problem.a.type);
    problem.b.constant = is_constant(node.input(1));
    return checked({{problem, {}}, place_of(node)});
  }

  static NetworkPlace place_of(const OnnxNode& node) {
    NetworkPlace place;
    place.inputs = {node.input(0), node.input(1)};
    return place;
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
    if (!operand.empty()) found.place.inputs.push_back(operand);
  }

  // As long as what comes next can be done in one go.
  void follow(Found& found) {
    while (take_linear(found) || take_sum(found) || take_scaling(found) || take_function(found)) {
    }
    take_pool(found);
  }

  // The one node that reads the output so far, and nobody else does.
  std::optional<std::size_t> only_reader(const Found& found) const {
    const auto readers = readers_.find(found.place.output);
    if (readers == readers_.end() || readers->second.size() != 1) return std::nullopt;
    const std::size_t reader = readers->second[0];
    if (reader >= model_.nodes.size() || taken_[reader]) return std::nullopt;
    return reader;
  }

  // Takes the step, if the workload stays one; else nothing is changed.
  bool try_step(Found& found, EpilogueStep step, std::vector<std::string_view> operands,
                const std::vector<std::size_t>& nodes, std::string_view output) {
    Found longer = found;
    longer.workload.epilogue.steps.push_back(step);
    try {
      // What the parser refuses (a step twice, a pool before a residual) is no epilogue either.
      parse_epilogue(to_text(longer.workload.epilogue));
      validate(longer.workload);
    } catch (const Error&) {
      return false;
    }
    for (const std::string_view operand : operands) longer.place.inputs.push_back(operand);
    longer.place.nodes.insert(longer.place.nodes.end(), nodes.begin(), nodes.end());
    longer.place.output = output;
    for (const std::size_t node : nodes) taken_[node] = true;
    found = std::move(longer);
    return true;
  }

  // From the end, which of so many dimensions has the channels: of images the second, of rows the last.
  static std::size_t channel_axis(const Workload& workload, std::size_t rank) {
    return workload.op() == Operator::kConv2d ? rank - 1 : 1;
  }

  // Nothing but a bias has been done so far: what is linear goes into the filter and the bias.
  static bool is_linear(const Found& found) {
    const std::vector<EpilogueStep>& steps = found.workload.epilogue.steps;
    return steps.empty() || (steps.size() == 1 && steps[0].op == EpilogueOp::kBias);
  }
  // What comes next and is linear can go there: a bias that is computed, as the C of a Gemm may be, takes
  // none.
  bool takes_linear(const Found& found) const {
    const std::vector<std::string_view>& inputs = found.place.inputs;
    return is_linear(found) && (inputs.size() < 3 || inputs[2].empty() ||
                                (is_constant(inputs[2]) && is_foldable(constants_, inputs[2])));
  }
  bool is_foldable_behind(const Found& found, const OnnxNode& node) const {
    return is_foldable(constants_, node, found.place.output,
                       static_cast<std::size_t>(channels_of(found.workload)));
  }

  // The node's work goes into the filter (or B), the bias, or both: those are then made of several constants.
  void fold(Found& found, std::size_t node, bool filter) {
    if (filter) found.place.inputs[1] = {};
    if (found.place.inputs.size() > 2) found.place.inputs[2] = {};
    found.place.nodes.push_back(node);
    found.place.linear.push_back(node);
    found.place.output = model_.nodes[node].outputs[0];
    taken_[node] = true;
  }

  // Whether the node is a normalization of a trained network: a scale and a shift for each channel.
  bool is_normalization(const Found& found, const OnnxNode& node) const {
    if (found.workload.op() != Operator::kConv2d || node.op != "BatchNormalization" ||
        node.inputs.size() != 5 || node.input(0) != found.place.output || node.outputs.size() != 1 ||
        node.whole("training_mode", 0) != 0)
      return false;
    for (std::size_t i = 1; i < 5; ++i)
      if (!is_constant(node.input(i))) return false;
    return node.domain.empty() && is_foldable_behind(found, node);
  }

  // What the node adds, subtracts, multiplies or divides with; "" where it does no such thing with the output
  // so far.
  std::string_view other_operand(const OnnxNode& node, const Found& found) const {
    if (!node.domain.empty() || node.inputs.size() != 2 || node.outputs.size() != 1) return {};
    if (node.input(0) == node.input(1)) return {};
    if (node.input(0) == found.place.output) return node.input(1);
    return node.op == "Sub" || node.op == "Div" ? std::string_view() : node.input(0);
  }

  // One number, which every channel takes.
  bool is_number(const Found& found, std::string_view value) const {
    const auto own = shape(found.place.output), other = shape(value);
    return own && other && shapes_.of(value).constant != nullptr && other->size() <= own->size() &&
           product(*other, 0, other->size()) == 1;
  }

  bool is_channels_constant(const Found& found, std::string_view value) const {
    const auto own = shape(found.place.output), other = shape(value);
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
  // Whether it adds one or subtracts one.
  bool is_summand(const Found& found, const OnnxNode& node) const {
    if (node.op != "Add" && node.op != "Sum" && node.op != "Sub") return false;
    const std::string_view other = other_operand(node, found);
    return !other.empty() && (is_channels_constant(found, other) || is_number(found, other)) &&
           is_foldable_behind(found, node);
  }

  // Before anything that is not linear: goes into the filter and the bias.
  bool take_linear(Found& found) {
    const auto reader = only_reader(found);
    if (!reader || !takes_linear(found)) return false;
    const OnnxNode& node = model_.nodes[*reader];
    const bool normalization = is_normalization(found, node), factor = is_factor(found, node);
    if (normalization || factor) {
      if (!is_constant(model_.nodes[found.place.nodes[0]].input(1)))
        return factor && take_alpha(found, *reader);
      if (factor || !found.workload.epilogue.empty()) {
        fold(found, *reader, true);
        return true;
      }
      if (!try_step(found, {.op = EpilogueOp::kBias}, {""}, {*reader}, node.outputs[0])) return false;
      found.place.inputs[1] = {};
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
    found.place.linear.push_back(*reader);
    return true;
  }

  // A product of two variables is scaled as a whole: attention's scores.
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
    scaled.place.nodes.push_back(reader);
    scaled.place.output = node.outputs[0];
    taken_[reader] = true;
    found = std::move(scaled);
    return true;
  }

  // Behind something that is not linear: one scale and shift, whatever the nodes.
  bool take_scaling(Found& found) {
    const auto reader = only_reader(found);
    if (!reader || takes_linear(found)) return false;
    const OnnxNode& node = model_.nodes[*reader];
    if (!is_normalization(found, node) && !is_factor(found, node) && !is_summand(found, node)) return false;
    if (found.workload.epilogue.steps.back().op == EpilogueOp::kScaleShift) {
      found.place.nodes.push_back(*reader);
      found.place.output = node.outputs[0];
      taken_[*reader] = true;
    } else if (!try_step(found, {.op = EpilogueOp::kScaleShift}, {"", ""}, {*reader}, node.outputs[0])) {
      return false;
    }
    found.place.scaling.push_back(*reader);
    return true;
  }

  // A bias behind something that is not linear, or a residual of the same shape.
  bool take_sum(Found& found) {
    const auto reader = only_reader(found);
    if (!reader) return false;
    const OnnxNode& node = model_.nodes[*reader];
    if (node.op != "Add" && node.op != "Sum") return false;
    const std::string_view other = other_operand(node, found);
    if (other.empty()) return false;
    if (is_channels_constant(found, other))
      return try_step(found, {.op = EpilogueOp::kBias}, {other}, {*reader}, node.outputs[0]);
    const auto own = shape(found.place.output), added = shape(other);
    if (!own || !added || *added != *own || shapes_.of(other).type != shapes_.of(found.place.output).type)
      return false;
    return try_step(found, {.op = EpilogueOp::kResidual}, {other}, {*reader}, node.outputs[0]);
  }

  bool take_function(Found& found) {
    const auto step = function_of_value(model_, shapes_, readers_, found.place.output);
    if (!step || std::ranges::any_of(step->nodes, [&](std::size_t node) { return bool(taken_[node]); }))
      return false;
    return try_step(found, step->step, {}, step->nodes, step->output);
  }

  // Square windows that lie alike over height and width.
  void take_pool(Found& found) {
    const auto reader = only_reader(found);
    if (!reader || found.workload.op() != Operator::kConv2d) return;
    const OnnxNode& node = model_.nodes[*reader];
    if ((node.op != "MaxPool" && node.op != "AveragePool") || node.outputs.size() != 1) return;
    const auto image = shape(found.place.output), pooled = shape(node.outputs[0]);
    if (!image || !pooled || image->size() != 4 || pooled->size() != 4) return;
    const auto window = window_of(node, {(*image)[2], (*image)[3]}, {});
    if (!window || window->dilation[0] != 1 || window->dilation[1] != 1) return;
    const auto windows = windows_over(*window, *image, *pooled);
    if (!windows) return;
    const EpilogueStep step =
        pool_over(node.op == "MaxPool" ? EpilogueOp::kMaxPool : EpilogueOp::kAvgPool, *windows);
    Workload pooled_workload = found.workload;
    pooled_workload.epilogue.steps.push_back(step);
    if (is_served_ && !is_served_(pooled_workload)) return;
    try_step(found, step, {}, {*reader}, node.outputs[0]);
  }

  // An output that is rounded up has windows that end behind the image, as padding there would make them.
  static std::optional<PoolWindows> windows_over(const ImageWindow& window,
                                                 const std::vector<std::int64_t>& image,
                                                 const std::vector<std::int64_t>& pooled) {
    PoolWindows windows = {window.kernel[0], window.stride[0], window.before[0], window.after[0]};
    if (windows.stride > kMostWindow) return std::nullopt;
    for (std::size_t i = 0; i < 2; ++i) {
      if (window.kernel[i] != window.kernel[0] || window.stride[i] != window.stride[0] ||
          window.before[i] != window.before[0] || window.after[i] != window.after[0])
        return std::nullopt;
      const std::int64_t end = (pooled[i + 2] - 1) * windows.stride + windows.window - windows.before;
      if (windows.over(image[i + 2]) < pooled[i + 2])
        windows.after = std::max(windows.after, end - image[i + 2]);
    }
    for (std::size_t i = 0; i < 2; ++i)
      if (windows.over(image[i + 2]) != pooled[i + 2]) return std::nullopt;
    return windows;
  }

  void keep(Found found, std::size_t node) {
    taken_[node] = true;
    const auto [at, added] = index_.try_emplace(to_text(found.workload), places_.workloads.size());
    if (added) places_.workloads.push_back({found.workload, {}});
    places_.workloads[at->second].places.push_back(std::move(found.place));
  }

  const OnnxModel& model_;
  const GraphShapes& shapes_;
  const Constants constants_;
  const IsServed& is_served_;
  const Readers readers_;
  std::unordered_set<std::string_view> dequantized_;    ///< values that a DequantizeLinear makes
  std::vector<char> taken_;                             ///< nodes that are part of a place
  std::unordered_map<std::string, std::size_t> index_;  ///< of workloads, by their text
  NetworkPlaces places_;
};

}  // namespace

NetworkPlaces places_of(const OnnxModel& model, const GraphShapes& shapes, const IsServed& is_served) {
  return Finder(model, shapes, is_served).run();
}

double flops_of(const PlacedWorkload& placed) {
  return flops_of(placed.workload) * static_cast<double>(placed.places.size());
}

}  // namespace lehr
