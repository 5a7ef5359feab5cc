#include "network/coded_weights.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "network/constants.h"

namespace lehr {
namespace {

constexpr std::string_view kQuantize = "QuantizeLinear", kDequantize = "DequantizeLinear";

/// The elements of the weights after some of the nodes. Elements of 8 bits are exact in f32, too.
struct Elements {
  Sizes shape;
  std::vector<float> values;
  std::optional<QuantParams> quant_params;  ///< set once a DequantizeLinear has been followed
};

std::int64_t product(const Sizes& shape, std::size_t begin, std::size_t end) {
  return std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(begin),
                         shape.begin() + static_cast<std::ptrdiff_t>(end), std::int64_t{1},
                         std::multiplies<>());
}

std::size_t axis_of(const QuantParams& quant_params, const Sizes& shape) {
  const std::int64_t axis = quant_params.axis < 0 ? quant_params.axis + std::ssize(shape) : quant_params.axis;
  if (axis < 0 || axis >= std::ssize(shape) ||
      std::ssize(quant_params.scales) != shape[static_cast<std::size_t>(axis)])
    refuse("its weights have other scales than one for each channel");
  return static_cast<std::size_t>(axis);
}

/// Quantizes the elements. Rounds as an engine does, ties to even.
void quantize(const QuantParams& quant_params, Elements& elements) {
  if (!is_8_bit(quant_params.type)) refuse("its weights are quantized to {}", name_of(quant_params.type));
  const float low = quant_params.type == OnnxType::kS8 ? -128 : 0,
              high = quant_params.type == OnnxType::kS8 ? 127 : 255;
  const std::size_t axis = quant_params.is_one() ? 0 : axis_of(quant_params, elements.shape);
  const auto inner = static_cast<std::size_t>(
      quant_params.is_one() ? 1 : product(elements.shape, axis + 1, elements.shape.size()));
  for (std::size_t i = 0; i < elements.values.size(); ++i) {
    const std::size_t channel = i / inner % quant_params.scales.size();
    const auto zero = static_cast<float>(quant_params.zeros[quant_params.zeros.size() == 1 ? 0 : channel]);
    float& value = elements.values[i];
    if (std::isnan(value)) refuse("its weights are not all numbers");
    value = std::clamp(std::nearbyint(value / quant_params.scales[channel]) + zero, low, high);
  }
}

void transpose(const OnnxNode& node, Elements& elements) {
  const Sizes from = elements.shape;
  Sizes order = node.wholes("perm");
  if (order.empty())
    for (std::size_t i = from.size(); i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
  Sizes sorted = order;
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < sorted.size(); ++i)
    if (sorted.size() != from.size() || sorted[i] != static_cast<std::int64_t>(i))
      refuse("its weights are transposed in no order of their dimensions");
  if (elements.quant_params && !elements.quant_params->is_one())
    elements.quant_params->axis =
        std::ranges::find(order, static_cast<std::int64_t>(axis_of(*elements.quant_params, from))) -
        order.begin();
  std::vector<std::int64_t> steps;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto dim = static_cast<std::size_t>(order[i]);
    elements.shape[i] = from[dim];
    steps.push_back(product(from, dim + 1, from.size()));
  }
  std::vector<float> moved;
  moved.reserve(elements.values.size());
  Sizes at(from.size(), 0);
  for (std::int64_t source = 0; moved.size() < elements.values.size();) {
    moved.push_back(elements.values[static_cast<std::size_t>(source)]);
    for (std::size_t i = at.size(); i-- > 0;) {
      source += steps[i];
      if (++at[i] < elements.shape[i]) break;
      source -= steps[i] * at[i];
      at[i] = 0;
    }
  }
  elements.values = std::move(moved);
}

/// Changes the shape, and finds the dimension of the channels in it. It is the dimension with as many
/// elements before and after it as before.
void reshape(const std::optional<Sizes>& shape, Elements& elements) {
  if (!shape || product(*shape, 0, shape->size()) != std::ssize(elements.values))
    refuse("the shape of its weights is not known");
  const Sizes from = std::exchange(elements.shape, *shape);
  if (!elements.quant_params || elements.quant_params->is_one()) return;
  const std::size_t axis = axis_of(*elements.quant_params, from);
  for (std::size_t i = 0; i < shape->size(); ++i)
    if ((*shape)[i] == from[axis] && product(*shape, 0, i) == product(from, 0, axis)) {
      elements.quant_params->axis = static_cast<std::int64_t>(i);
      return;
    }
  refuse("its weights' channels are put into another shape");
}

/// Returns the nodes that make a value from a constant, from the last node to the node that reads the
/// constant. Returns nullopt if a node does anything but move, clip or quantize elements.
std::optional<std::vector<std::size_t>> chain_of(const OpenGraph& graph, std::string_view value) {
  std::vector<std::size_t> chain;
  std::ptrdiff_t dequantizing = 0;
  while (graph.shapes.of(value).constant == nullptr) {
    const auto maker = graph.makers.find(value);
    if (maker == graph.makers.end()) return std::nullopt;
    const OnnxNode& node = graph.model.nodes[maker->second];
    const bool is_dequantizing = node.op == kDequantize;
    if (!node.domain.empty() || !(is_dequantizing || node.op == kQuantize || node.op == "Transpose" ||
                                  node.op == "Clip" || only_reshapes(node)))
      return std::nullopt;
    dequantizing += is_dequantizing;
    chain.push_back(maker->second);
    value = node.input(0);
  }
  if (dequantizing != 1 || chain.size() == 1) return std::nullopt;
  return chain;
}

Elements elements_of(const OpenGraph& graph, const OnnxTensor& tensor) {
  if (tensor.type == OnnxType::kF32) return {tensor.dims, f32_elements(graph.model, tensor), {}};
  if (!is_8_bit(tensor.type)) refuse("its weights '{}' are of {}", tensor.name, name_of(tensor.type));
  const std::vector<std::int64_t> wholes = whole_elements(graph.model, tensor);
  return {tensor.dims, {wholes.begin(), wholes.end()}, {}};
}

/// Clips the elements to bounds that may be narrower than those of the type. Brevitas exports a Clip to keep
/// s8 symmetric.
void clip(const OpenGraph& graph, const OnnxNode& node, Elements& elements) {
  const auto bound = [&](std::size_t input, float otherwise) {
    if (node.input(input).empty()) return otherwise;
    const OnnxTensor* const tensor = graph.shapes.of(node.input(input)).constant;
    if (tensor == nullptr || element_count(*tensor) != 1) refuse("the bounds of its weights are not known");
    return elements_of(graph, *tensor).values[0];
  };
  const float low = bound(1, -INFINITY), high = bound(2, INFINITY);
  for (float& value : elements.values) value = std::min(std::max(value, low), high);
}

void follow(const OpenGraph& graph, const OnnxNode& node, Elements& elements) {
  const QuantParamsReader params_reader(graph);
  if (node.op == kQuantize)
    quantize(params_reader.of_node(node, node.outputs[0]), elements);
  else if (node.op == kDequantize)
    elements.quant_params = params_reader.of_node(node, node.input(0));
  else if (node.op == "Transpose")
    transpose(node, elements);
  else if (node.op == "Clip")
    clip(graph, node, elements);
  else
    reshape(whole_shape(graph.shapes.of(node.outputs[0])), elements);
}

}  // namespace

std::optional<QuantizedWeights> quantized_weights(const OpenGraph& graph, std::string_view value) {
  const auto chain = chain_of(graph, value);
  if (!chain) return std::nullopt;
  const std::vector<OnnxNode>& nodes = graph.model.nodes;
  Elements elements = elements_of(graph, *graph.shapes.of(nodes[chain->back()].input(0)).constant);
  for (auto at = chain->rbegin(); at != chain->rend(); ++at) follow(graph, nodes[*at], elements);
  const QuantParams& quant_params = *elements.quant_params;
  if (!is_8_bit(quant_params.type)) refuse("its weights are quantized to {}", name_of(quant_params.type));
  QuantizedWeights weights{std::move(elements.shape), {}, quant_params, *chain};
  for (const float each : elements.values) weights.bytes += static_cast<char>(static_cast<int>(each));
  return weights;
}

}  // namespace lehr
