#include "network/layouts.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <unordered_set>

#include "network/narrow.h"
#include "workload/operator.h"

namespace lehr {
namespace {

/// The inputs of a node that may be images: the index of the first such input, and the distance to the next.
/// A step of 0 means that there is only one such input.
struct ImageInputs {
  std::size_t first = 0, step = 0;
};

struct LastRow {
  std::string_view op, domain;
  ImageInputs images = {};
  bool has_axis = false, states_layout = false;
};
/// Operators that compute element by element, or concatenate channels. Those of the domain com.microsoft are
/// documented in https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md.
constexpr LastRow kLastRows[] = {
    {"Relu", ""},
    {"Sigmoid", ""},
    {"Tanh", ""},
    {"Clip", ""},
    {"LeakyRelu", ""},
    {"Elu", ""},
    {"HardSigmoid", ""},
    {"HardSwish", ""},
    {"Identity", ""},
    {"Add", "", {0, 1}},
    {"Sub", "", {0, 1}},
    {"Mul", "", {0, 1}},
    {"Div", "", {0, 1}},
    {"Sum", "", {0, 1}},
    {"Concat", "", {0, 1}, true},
    {"QLinearAdd", kMicrosoftDomain, {0, 3}},
    {"QLinearMul", kMicrosoftDomain, {0, 3}},
    {"QLinearSigmoid", kMicrosoftDomain},
    {"QLinearLeakyRelu", kMicrosoftDomain},
    {"QLinearConcat", kMicrosoftDomain, {2, 3}, true},
    {"QLinearAveragePool", kMicrosoftDomain, {}, false, true},
    {"QLinearGlobalAveragePool", kMicrosoftDomain, {}, false, true},
};

bool is_8_bits(OnnxType type) {
  return type == OnnxType::kU8 || type == OnnxType::kS8;
}

bool is_depthwise(const Workload& workload) {
  const std::optional<ImageSums> images = images_of(workload);
  return images && images->groups > 1 && !sums_of(workload).of_matrices;
}

/// Sets of values that are connected: two values are in one set if a path of convolutions, and of other nodes
/// that can have channels last, leads from one to the other. One member of each set stands for the set.
class Runs {
 public:
  void join(std::string_view one, std::string_view other) { above_[root(one)] = root(other); }
  std::string_view root(std::string_view value) {
    while (true) {
      const auto found = above_.try_emplace(value, value).first;
      if (found->second == value) return value;
      value = found->second;
    }
  }

 private:
  std::unordered_map<std::string_view, std::string_view> above_;
};

/// Returns the convolutions of f32 whose set of connected values (Runs) includes the output of a depthwise
/// convolution.
std::unordered_set<const Match*> near_depthwise(const OnnxModel& model, const GraphShapes& shapes,
                                                const Matches& matches) {
  Runs runs;
  const auto each_convolution = [&](auto&& visit) {
    for (const MatchedWorkload& matched : matches.workloads)
      if (images_of(matched.workload) && sums_of(matched.workload).operand == DType::kF32)
        for (const Match& match : matched.matches) visit(matched.workload, match);
  };
  each_convolution([&](const Workload&, const Match& match) { runs.join(match.inputs[0], match.output); });
  for (const OnnxNode& node : model.nodes)
    if (const auto last = last_node(node, shapes))
      for (std::size_t i = 0; i < node.inputs.size(); ++i)
        if (last->images[i]) runs.join(node.inputs[i], node.outputs[0]);
  std::unordered_set<std::string_view> deep;
  each_convolution([&](const Workload& workload, const Match& match) {
    if (is_depthwise(workload)) deep.insert(runs.root(match.output));
  });
  std::unordered_set<const Match*> found;
  each_convolution([&](const Workload&, const Match& match) {
    if (deep.contains(runs.root(match.output))) found.insert(&match);
  });
  return found;
}

}  // namespace

std::vector<std::int64_t> to_channels_last(std::size_t rank) {
  std::vector<std::int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

std::vector<std::int64_t> to_channels_first(std::size_t rank) {
  std::vector<std::int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin() + 1, order.end() - 1, order.end());
  return order;
}

bool lies_alike(const GraphShapes& shapes, std::string_view value) {
  const auto shape = whole_shape(shapes.of(value));
  if (!shape || shape->size() < 3) return false;
  return (*shape)[1] == 1 ||
         std::all_of(shape->begin() + 2, shape->end(), [](auto size) { return size == 1; });
}

namespace {

/// Whether each input that may be an image has `rank` dimensions or is a single number. `images` gets for
/// each input whether it is an image.
bool find_images(const OnnxNode& node, const GraphShapes& shapes, const ImageInputs& inputs, std::size_t rank,
                 std::vector<bool>& images) {
  images.assign(node.inputs.size(), false);
  for (std::size_t i = inputs.first; i < node.inputs.size(); i += inputs.step) {
    const auto shape = whole_shape(shapes.of(node.inputs[i]));
    if (!shape) return false;
    const bool is_number = std::ranges::all_of(*shape, [](std::int64_t size) { return size == 1; });
    images[i] = shape->size() == rank && !(is_number && i > inputs.first);
    if (!images[i] && !is_number) return false;
    if (inputs.step == 0) break;
  }
  return std::ranges::find(images, true) != images.end();
}

const LastRow* last_row(const OnnxNode& node, const GraphShapes& shapes) {
  static constexpr LastRow kMaxPool = {"NhwcMaxPool", kMicrosoftDomain}, kQuantized = {"", ""};
  if (node.op == "MaxPool" && node.domain.empty())
    return is_8_bits(shapes.of(node.input(0)).type) ? &kMaxPool : nullptr;
  if ((node.op == "QuantizeLinear" || node.op == "DequantizeLinear") && node.domain.empty()) {
    const auto scale = whole_shape(shapes.of(node.input(1)));
    const bool one = scale && std::ranges::all_of(*scale, [](std::int64_t size) { return size == 1; });
    return one && node.attribute("block_size") == nullptr ? &kQuantized : nullptr;
  }
  const auto found = std::ranges::find_if(
      kLastRows, [&](const LastRow& row) { return row.op == node.op && row.domain == node.domain; });
  return found == std::end(kLastRows) ? nullptr : &*found;
}

}  // namespace

std::optional<LastNode> last_node(const OnnxNode& node, const GraphShapes& shapes) {
  const LastRow* const row = last_row(node, shapes);
  if (row == nullptr || node.outputs.size() != 1 || !node.captured.empty()) return std::nullopt;
  const auto shape = whole_shape(shapes.of(node.outputs[0]));
  if (!shape || shape->size() < 3) return std::nullopt;
  const std::size_t rank = shape->size();
  LastNode last = {row->op.empty() ? node.op : row->op, row->domain};
  if (!find_images(node, shapes, row->images, rank, last.images)) return std::nullopt;
  last.states_layout = row->states_layout;
  if (row->has_axis) {
    const std::int64_t reported = node.whole("axis", 0),
                       axis = reported < 0 ? reported + std::ssize(*shape) : reported;
    if (axis < 0 || axis >= std::ssize(*shape)) return std::nullopt;
    const std::vector<std::int64_t> order = to_channels_last(rank);
    last.axis = std::ranges::find(order, axis) - order.begin();
  }
  return last;
}

std::optional<Workload> channels_last(Workload workload) {
  const auto set_layout = operator_of(workload).set_layout;
  if (set_layout == nullptr) return std::nullopt;
  set_layout(workload, ImageLayout::kNhwc);
  return workload;
}

bool has_channels_last(const Workload& workload) {
  const std::optional<ImageSums> images = images_of(workload);
  return images && images->layout == ImageLayout::kNhwc;
}

bool is_image(const Workload& workload, std::size_t input) {
  if (!images_of(workload)) return false;
  if (input == 0) return true;
  const std::size_t own = zero_of(workload) == ZeroPoint::kNone ? 2 : 3;
  const std::vector<StepOperand> operands = operands_of(workload.epilogue);
  return input >= own && operands.at(input - own).per == OperandPer::kElement;
}

OtherForms other_forms(const OnnxModel& model, const GraphShapes& shapes, const Matches& matches,
                       const IsServed& is_served, bool narrow) {
  const auto is_served_last = [&](const Workload& workload) {
    const auto last = channels_last(workload);
    return last && is_served(*last);
  };
  NarrowWorkloads narrowed;
  if (narrow)
    narrowed = narrow_workloads(model, shapes, matches, [&](const Workload& workload) {
      return is_served(workload) || is_served_last(workload);
    });
  const std::unordered_set<const Match*> deep = near_depthwise(model, shapes, matches);
  OtherForms all;
  for (const MatchedWorkload& matched : matches.workloads)
    for (const Match& match : matched.matches) {
      std::vector<Workload> forms;
      const auto in_bf16 = narrowed.find(&match);
      if (in_bf16 != narrowed.end() && is_served(in_bf16->second)) forms.push_back(in_bf16->second);
      const bool gains = deep.contains(&match) ||
                         (images_of(matched.workload) && is_integer(sums_of(matched.workload).operand));
      if (gains && is_served_last(matched.workload)) forms.push_back(*channels_last(matched.workload));
      if (in_bf16 != narrowed.end() && is_served_last(in_bf16->second))
        forms.push_back(*channels_last(in_bf16->second));
      if (!forms.empty()) all.emplace(&match, std::move(forms));
    }
  return all;
}

}  // namespace lehr
