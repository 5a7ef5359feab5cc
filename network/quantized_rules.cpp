// Shape rules for quantized operators, which have scales and zero points among their inputs. The operators
// are those of ONNX, and those of the domain com.microsoft that quantizing programs write
// (https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md).
#include <algorithm>
#include <array>

#include "network/shape_rules.h"

namespace lehr {
namespace {

/// Value of QuantizedOperator::type for an operator whose outputs are sums, of a type that no input has.
constexpr int kSums = -1;

struct QuantizedOperator {
  std::string_view domain, op;
  ShapeRule rule;             ///< rule of the corresponding operator that is not quantized
  std::array<int, 2> inputs;  ///< positions of the inputs for the rule; -1: the rule needs no such input
  int type;  ///< position of the input whose type the output has, such as the output's zero point
};

constexpr QuantizedOperator kOperators[] = {
    {"", "QLinearConv", &rules::conv, {0, 3}, 7},
    {"", "QLinearMatMul", &rules::matmul, {0, 3}, 7},
    {"", "ConvInteger", &rules::conv, {0, 1}, kSums},
    {kMicrosoftDomain, "QGemm", &rules::gemm, {0, 3}, 8},
    {kMicrosoftDomain, "QLinearAdd", &rules::arithmetic, {0, 3}, 0},
    {kMicrosoftDomain, "QLinearMul", &rules::arithmetic, {0, 3}, 0},
    {kMicrosoftDomain, "QLinearSigmoid", &rules::same, {0, -1}, 0},
    {kMicrosoftDomain, "QLinearLeakyRelu", &rules::same, {0, -1}, 0},
    {kMicrosoftDomain, "QLinearSoftmax", &rules::same, {0, -1}, 0},
    {kMicrosoftDomain, "QLinearAveragePool", &rules::pool, {0, -1}, 0},
    {kMicrosoftDomain, "QLinearGlobalAveragePool", &rules::global_pool, {0, -1}, 0},
};

/// Whether the images have channels last, so that the rules for images do not hold.
bool has_channels_last(const OnnxNode& node) {
  return node.whole("channels_last", 0) != 0;
}

void infer(ShapeSite& site, ShapeRule rule, const std::vector<std::size_t>& inputs, OnnxType type) {
  OnnxNode node;
  node.attributes = site.node.attributes;
  ShapeSite plain{node, site.opset, {}, std::move(site.outputs)};
  for (const std::size_t input : inputs) {
    node.inputs.push_back(site.node.input(input));
    plain.inputs.push_back(&site.in(input));
  }
  rule(plain);
  site.outputs = std::move(plain.outputs);
  site.outputs[0].type = type;
  site.outputs[0].wholes.reset();
}

/// Infers the output of a QLinearConcat. Its inputs are the output's scale and zero point and, for each part,
/// the part, its scale and its zero point.
void concat(ShapeSite& site) {
  std::vector<std::size_t> parts;
  for (std::size_t i = 2; i < site.inputs.size(); i += 3) parts.push_back(i);
  infer(site, &rules::concat, parts, site.in(1).type);
}

}  // namespace

bool infer_quantized(ShapeSite& site) {
  if (site.node.domain == kMicrosoftDomain && site.node.op == "QLinearConcat") return concat(site), true;
  const auto found = std::ranges::find_if(kOperators, [&](const QuantizedOperator& each) {
    return each.op == site.node.op && each.domain == site.node.domain;
  });
  if (found == std::end(kOperators) || has_channels_last(site.node)) return false;
  std::vector<std::size_t> inputs;
  for (const int input : found->inputs)
    if (input >= 0) inputs.push_back(static_cast<std::size_t>(input));
  OnnxType type = OnnxType::kS32;
  if (found->type != kSums) type = site.in(static_cast<std::size_t>(found->type)).type;
  // A QGemm without an output scale does not quantize its output.
  if (site.node.op == "QGemm" && !site.has(8)) type = OnnxType::kF32;
  infer(site, found->rule, inputs, type);
  return true;
}

}  // namespace lehr
