// The table of operators, and the rules that no other file holds. A rule fills in the facts that it can
// infer, and leaves all other facts open. Operators and attributes are those of
// https://onnx.ai/onnx/operators.
#include "network/shape_rules.h"

#include <algorithm>
#include <span>

#include "base/text.h"
#include "network/shape_lists.h"

namespace lehr {
namespace rules {

void gemm(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  const auto &a = site.in(0).shape, &b = site.in(1).shape;
  if (!a || !b || a->size() != 2 || b->size() != 2) return;
  const bool a_turned = site.node.whole("transA", 0) != 0, b_turned = site.node.whole("transB", 0) != 0;
  site.outputs[0].shape = Shape{(*a)[a_turned ? 1 : 0], (*b)[b_turned ? 0 : 1]};
}

void matmul(ShapeSite& site) {
  site.outputs[0].type = site.node.op == "MatMulInteger" ? OnnxType::kS32 : site.in(0).type;
  if (!site.in(0).shape || !site.in(1).shape) return;
  Shape a = *site.in(0).shape, b = *site.in(1).shape;
  if (a.empty() || b.empty()) return;
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  const std::optional<Shape> batch = broadcast({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
  if (!batch) return;
  Shape result = *batch;
  if (!row) result.push_back(a[a.size() - 2]);
  if (!column) result.push_back(b.back());
  site.outputs[0].shape = result;
}

namespace {

void identity(ShapeSite& site) {
  same(site);
  site.outputs[0].wholes = site.in(0).wholes;
  site.outputs[0].constant = site.in(0).constant;
}

void cast(ShapeSite& site) {
  same(site);
  site.outputs[0].type = static_cast<OnnxType>(site.node.whole("to", 0));
  site.outputs[0].wholes = site.in(0).wholes;
}

void reduce(ShapeSite& site) {
  const bool index = site.node.op == "ArgMax" || site.node.op == "ArgMin";
  site.outputs[0].type = index ? OnnxType::kS64 : site.in(0).type;
  const auto& shape = site.in(0).shape;
  if (!shape) return;
  auto axes = index ? std::vector<std::int64_t>{site.node.whole("axis", 0)} : list_of(site, 1, "axes");
  if (!axes && site.has(1)) return;
  const bool all = !axes || axes->empty();
  if (all && site.node.whole("noop_with_empty_axes", 0) != 0) return same(site);
  const auto reduced = all ? std::vector<bool>(shape->size(), true) : marked(*axes, shape->size());
  if (!reduced) return;
  Shape result;
  for (std::size_t i = 0; i < shape->size(); ++i) {
    if (!(*reduced)[i]) result.push_back((*shape)[i]);
    if ((*reduced)[i] && site.node.whole("keepdims", 1) != 0) result.push_back(1);
  }
  site.outputs[0].shape = result;
  const auto values = known(site.in(0));
  if (site.node.op == "ReduceProd" && values && shape->size() == 1) {
    Dim whole = 1;
    for (const std::int64_t value : *values) whole = whole ? checked_product(*whole, value) : whole;
    site.outputs[0].wholes = Shape{whole};
  }
}

// Infers the outputs of a recurrent layer: Y (steps x directions x batch x hidden), and the last states.
void recurrent(ShapeSite& site) {
  for (ValueFacts& output : site.outputs) output.type = site.in(0).type;
  const auto& x = site.in(0).shape;
  const std::int64_t hidden = site.node.whole("hidden_size", 0);
  if (!x || x->size() != 3 || hidden < 1) return;
  const std::int64_t directions = site.node.text("direction", "forward") == "bidirectional" ? 2 : 1;
  if (site.node.whole("layout", 0) != 0) return;
  site.outputs[0].shape = Shape{(*x)[0], directions, (*x)[1], hidden};
  for (std::size_t i = 1; i < site.outputs.size(); ++i)
    site.outputs[i].shape = Shape{directions, (*x)[1], hidden};
}

void quantize(ShapeSite& site) {
  same(site);
  const std::int64_t stated = site.node.whole("output_dtype", 0);
  if (stated != 0)
    site.outputs[0].type = static_cast<OnnxType>(stated);
  else if (site.node.op == "DequantizeLinear")
    site.outputs[0].type = site.in(1).type;
  else
    site.outputs[0].type = site.has(2) ? site.in(2).type : OnnxType::kU8;
}

/// Infers the outputs from number `first` on, which have one value per row: the mean, the reciprocal of the
/// standard deviation, or both.
void row_facts(ShapeSite& site, std::size_t first, std::int64_t axis) {
  const auto& shape = site.in(0).shape;
  if (axis < 0 && shape) axis += std::ssize(*shape);
  for (std::size_t i = first; i < std::min<std::size_t>(site.outputs.size(), 3); ++i) {
    site.outputs[i].type = OnnxType::kF32;
    if (!shape || axis < 0 || axis >= std::ssize(*shape)) continue;
    site.outputs[i].shape = shape;
    std::fill(site.outputs[i].shape->begin() + axis, site.outputs[i].shape->end(), 1);
  }
}

void layer_normalization(ShapeSite& site) {
  same(site);
  row_facts(site, 1, site.node.whole("axis", -1));
}

/// Infers the outputs of a normalization of a sum. The fourth output is the sum itself.
void skip_normalization(ShapeSite& site) {
  same(site);
  row_facts(site, 1, -1);
  if (site.outputs.size() > 3) site.outputs[3] = site.outputs[0];
}

void dropout(ShapeSite& site) {
  same(site);
  if (site.outputs.size() > 1) site.outputs[1] = {OnnxType::kBool, site.in(0).shape, {}, nullptr, false};
}

struct Row {
  ShapeRule rule;
  std::string_view ops;  ///< separated by blanks
};

constexpr Row kRows[] = {
    {&same,
     "Abs Acos Asin Atan BatchNormalization Celu Ceil Clip Cos Cosh CumSum Elu Erf Exp "
     "Floor Gelu HardSigmoid HardSwish Hardmax LRN LeakyRelu Log "
     "LogSoftmax LpNormalization InstanceNormalization GroupNormalization "
     "MeanVarianceNormalization Mish Neg Not PRelu Reciprocal Relu Round ScatterND "
     "ScatterElements Selu Shrink Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt "
     "Swish Tan Tanh ThresholdedRelu Trilu RMSNormalization"},
    {&layer_normalization, "LayerNormalization SimplifiedLayerNormalization"},
    {&identity, "Identity"},
    {&cast, "Cast"},
    {&arithmetic, "Add Sub Mul Div Pow Max Min Mean Sum Mod"},
    {&comparison, "Equal Greater GreaterOrEqual Less LessOrEqual And Or Xor"},
    {&where, "Where"},
    {&conv, "Conv"},
    {&conv_transpose, "ConvTranspose"},
    {&pool, "MaxPool AveragePool LpPool"},
    {&global_pool, "GlobalAveragePool GlobalMaxPool GlobalLpPool"},
    {&gemm, "Gemm"},
    {&matmul, "MatMul MatMulInteger"},
    {&flatten, "Flatten"},
    {&reshape, "Reshape"},
    {&transpose, "Transpose"},
    {&concat, "Concat"},
    {&split, "Split"},
    {&slice, "Slice"},
    {&squeeze, "Squeeze"},
    {&unsqueeze, "Unsqueeze"},
    {&gather, "Gather"},
    {&like_second, "GatherElements"},
    {&shape_itself, "Shape"},
    {&size_itself, "Size"},
    {&constant, "Constant"},
    {&constant_of_shape, "ConstantOfShape"},
    {&expand, "Expand"},
    {&tile, "Tile"},
    {&pad, "Pad"},
    {&resize, "Resize Upsample"},
    {&reduce,
     "ReduceMean ReduceSum ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum "
     "ReduceLogSumExp ReduceSumSquare ArgMax ArgMin"},
    {&blocks, "DepthToSpace SpaceToDepth"},
    {&range, "Range"},
    {&recurrent, "LSTM GRU RNN"},
    {&quantize, "QuantizeLinear DequantizeLinear"},
    {&dropout, "Dropout"},
};

/// Operators of com.microsoft that ONNX Runtime's own programs write.
constexpr Row kContributed[] = {
    {&same, "BiasGelu FastGelu Gelu QuickGelu"},
    {&layer_normalization, "SimplifiedLayerNormalization"},
    {&skip_normalization, "SkipLayerNormalization SkipSimplifiedLayerNormalization"},
};

}  // namespace
}  // namespace rules

const ValueFacts& ShapeSite::in(std::size_t i) const {
  static const ValueFacts kNothing;
  return i < inputs.size() ? *inputs[i] : kNothing;
}

ShapeRule shape_rule_of(std::string_view op, std::string_view domain) {
  std::span<const rules::Row> rows;
  if (domain.empty()) rows = rules::kRows;
  if (domain == kMicrosoftDomain) rows = rules::kContributed;
  for (const rules::Row& row : rows) {
    const std::vector<std::string_view> ops = split(row.ops, ' ');
    if (std::ranges::find(ops, op) != ops.end()) return row.rule;
  }
  return nullptr;
}

}  // namespace lehr
