#include "measure/vendor/onnxruntime/row_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "measure/vendor/row_function.h"
#include "network/graph_records.h"
#include "network/protobuf.h"

namespace lehr::onnxruntime {
namespace {

using Shape = std::vector<std::int64_t>;

OrtElementType type_of(DType type) {
  return type == DType::kBF16 ? OrtElementType::kBfloat16 : OrtElementType::kFloat;
}

/// Returns the bytes of a ValueInfoProto.
std::string value_record(const Value& value) {
  std::string dimensions;
  for (const std::int64_t size : value.shape) dimensions += bytes_field(1, number_field(1, size));
  const std::string tensor =
      number_field(1, static_cast<std::int64_t>(value.type)) + bytes_field(2, dimensions);
  return bytes_field(1, value.name) + bytes_field(2, bytes_field(1, tensor));
}

/// Returns the bytes of a model with a graph's nodes and constants.
std::string model_bytes(std::string graph, std::span<const Value> inputs, std::span<const Value> outputs) {
  constexpr std::int64_t kIrVersion = 9, kOpset = 20;
  graph += bytes_field(2, "rows");
  for (const Value& input : inputs) graph += bytes_field(11, value_record(input));
  for (const Value& output : outputs) graph += bytes_field(12, value_record(output));
  return number_field(1, kIrVersion) + bytes_field(7, graph) +
         bytes_field(8, bytes_field(1, "") + number_field(2, kOpset));
}

/// ONNX operators for the operators of row expressions.
constexpr std::pair<RowOp, std::string_view> kOperators[] = {{RowOp::kAdd, "Add"},
                                                             {RowOp::kSub, "Sub"},
                                                             {RowOp::kMul, "Mul"},
                                                             {RowOp::kDiv, "Div"},
                                                             {RowOp::kNegative, "Neg"},
                                                             {RowOp::kLess, "Less"},
                                                             {RowOp::kAtMost, "LessOrEqual"},
                                                             {RowOp::kEqual, "Equal"},
                                                             {RowOp::kMin, "Min"},
                                                             {RowOp::kMax, "Max"},
                                                             {RowOp::kExp, "Exp"},
                                                             {RowOp::kLog, "Log"},
                                                             {RowOp::kSqrt, "Sqrt"},
                                                             {RowOp::kAbs, "Abs"},
                                                             {RowOp::kSumOf, "ReduceSum"},
                                                             {RowOp::kMeanOf, "ReduceMean"},
                                                             {RowOp::kMaxOf, "ReduceMax"},
                                                             {RowOp::kMinOf, "ReduceMin"}};
/// ONNX operators for epilogue steps without numbers.
constexpr std::pair<EpilogueOp, std::string_view> kSteps[] = {{EpilogueOp::kRelu, "Relu"},
                                                              {EpilogueOp::kTanh, "Tanh"},
                                                              {EpilogueOp::kSigmoid, "Sigmoid"},
                                                              {EpilogueOp::kGeluErf, "Gelu"},
                                                              {EpilogueOp::kHardSwish, "HardSwish"}};

std::string_view named(const auto& table, auto op) {
  const auto found = std::ranges::find(table, op, [](const auto& row) { return row.first; });
  CHECK(found != std::end(table), "an operator of ONNX's for number {}", static_cast<int>(op));
  return found->second;
}

bool is_comparison(RowOp op) {
  return op == RowOp::kLess || op == RowOp::kAtMost || op == RowOp::kEqual;
}

/// Returns the number of rows that share a line, or the number of lines, whichever all tensors with lines
/// have in common; 0: no tensor has lines.
std::int64_t period_of(const Rowwise& rowwise) {
  std::int64_t period = 0;
  for (const RowTensor& tensor : rowwise.in) {
    if (tensor.period == 0) continue;
    if ((period != 0 && tensor.period != period) || rows_of(rowwise) % tensor.period != 0)
      throw_user("onnxruntime is not asked for {} of {} rows: its rows are no whole number of equal groups",
                 to_text(tensor), rows_of(rowwise));
    period = tensor.period;
  }
  return period;
}

class Writer {
 public:
  Writer(const Rowwise& rowwise, bool whole)
      : rowwise_(rowwise),
        expression_(expression_of(rowwise)),
        whole_(whole),
        period_(period_of(rowwise)),
        names_(expression_.nodes.size()),
        shapes_(expression_.nodes.size()) {}

  RowModel model();

 private:
  const RowNode& at(int node) const { return expression_.nodes[static_cast<std::size_t>(node)]; }
  Shape shape_of(const RowTensor& tensor) const;
  Shape shape_of(const RowNode& node) const;
  /// Returns the name of a node's value. Writes the value first if necessary.
  const std::string& value(int node);
  std::string made(const RowNode& node);
  std::string function(const RowFunction& function);
  std::string element(const RowFunction& function, const std::string& of);
  std::string select(const RowNode& node);
  std::string reduction(const RowNode& node);
  std::string variance(const std::string& of);
  void output(const RowTensor& tensor, int node);

  std::string node(std::string_view op, std::initializer_list<std::string_view> inputs,
                   std::string_view attributes = {}) {
    std::string name = fmt::format("V{}", ++made_);
    graph_ += node_record(op, inputs, name, attributes);
    return name;
  }
  std::string cast(std::string_view from, DType type) {
    return node("Cast", {from}, int_attribute("to", static_cast<std::int64_t>(type_of(type))));
  }
  std::string constant(OrtElementType type, const Shape& shape, std::string_view bytes);
  std::string number(float value) {
    return constant(OrtElementType::kFloat, {}, {reinterpret_cast<const char*>(&value), sizeof value});
  }
  std::string numbers(const Shape& values) {
    return constant(OrtElementType::kInt64, {std::ssize(values)},
                    {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::int64_t)});
  }

  const Rowwise& rowwise_;
  RowExpression expression_;
  bool whole_;
  std::int64_t period_;
  std::vector<std::string> names_;
  std::vector<Shape> shapes_;
  int made_ = 0;
  std::string graph_;
};

std::string Writer::constant(OrtElementType type, const Shape& shape, std::string_view bytes) {
  std::string name = fmt::format("V{}", ++made_), tensor;
  for (const std::int64_t size : shape) tensor += number_field(1, size);
  tensor += number_field(2, static_cast<std::int64_t>(type)) + bytes_field(8, name) + bytes_field(9, bytes);
  graph_ += bytes_field(5, tensor);
  return name;
}

// Equal groups of rows become two dimensions.
Shape Writer::shape_of(const RowTensor& tensor) const {
  const std::int64_t columns = tensor.varies ? rowwise_.n : 1, rows = rows_of(rowwise_);
  switch (tensor.line) {
    case RowTensor::Line::kOnly:
      return {columns};
    case RowTensor::Line::kDivided:
      return {rows / period_, 1, columns};
    case RowTensor::Line::kModulo:
      return {period_, columns};
    case RowTensor::Line::kRow:
      break;
  }
  return period_ == 0 ? Shape{rows, columns} : Shape{rows / period_, period_, columns};
}

// Returns the shape that ONNX's broadcasting gives.
Shape Writer::shape_of(const RowNode& node) const {
  if (node.op == RowOp::kInput) return shape_of(rowwise_.in[static_cast<std::size_t>(node.input)]);
  Shape both;
  for (const int operand : node.used()) {
    const Shape& of = shapes_[static_cast<std::size_t>(operand)];
    if (of.size() > both.size()) both.insert(both.begin(), of.size() - both.size(), 1);
    for (std::size_t i = 0; i < of.size(); ++i) {
      std::int64_t& size = both[both.size() - of.size() + i];
      size = std::max(size, of[i]);
    }
  }
  if (is_reduction(node.op) && !both.empty()) both.back() = 1;
  return both;
}

const std::string& Writer::value(int node) {
  std::string& name = names_[static_cast<std::size_t>(node)];
  if (!name.empty()) return name;
  const auto found = whole_ ? row_function(rowwise_, expression_, node) : std::nullopt;
  const bool is_one = found && (found->kind == RowFunction::Kind::kElement || at(found->of).varies);
  name = is_one ? function(*found) : made(at(node));
  return name;
}

std::string Writer::function(const RowFunction& function) {
  const std::string of = value(function.of);
  if (function.kind == RowFunction::Kind::kElement) return element(function, of);
  const std::string along = int_attribute("axis", -1);
  if (function.kind == RowFunction::Kind::kSoftmax) return node("Softmax", {of}, along);
  if (function.kind == RowFunction::Kind::kLogSoftmax) return node("LogSoftmax", {of}, along);
  const std::string attributes = along + f32_attribute("epsilon", function.epsilon);
  const std::vector<float> ones(static_cast<std::size_t>(rowwise_.n), 1);
  const std::string scale =
      function.scale >= 0
          ? value(function.scale)
          : constant(OrtElementType::kFloat, {rowwise_.n},
                     {reinterpret_cast<const char*>(ones.data()), ones.size() * sizeof(float)});
  // The engine has this operator in ONNX's default domain, though ONNX does not define it.
  if (function.kind == RowFunction::Kind::kRmsNorm)
    return node("SimplifiedLayerNormalization", {of, scale}, attributes);
  if (function.shift < 0) return node("LayerNormalization", {of, scale}, attributes);
  return node("LayerNormalization", {of, scale, value(function.shift)}, attributes);
}

std::string Writer::element(const RowFunction& function, const std::string& of) {
  if (function.op != RowOp::kStep) return node(named(kOperators, function.op), {of});
  const StepNumbers& n = function.step.numbers;
  switch (function.step.op) {
    case EpilogueOp::kLeakyRelu:
      return node("LeakyRelu", {of}, f32_attribute("alpha", n[0]));
    case EpilogueOp::kRelu6:
      return node("Clip", {of, number(0), number(6)});
    case EpilogueOp::kClamp:
      return node("Clip", {of, number(n[0]), number(n[1])});
    case EpilogueOp::kSilu:
      return node("Mul", {of, node("Sigmoid", {of})});
    case EpilogueOp::kGeluTanh:
      return node("Gelu", {of}, text_attribute("approximate", "tanh"));
    default:
      return node(named(kSteps, function.step.op), {of});
  }
}

std::string Writer::made(const RowNode& of) {
  const auto operand = [&](std::size_t i) { return value(of.operands[i]); };
  switch (of.op) {
    case RowOp::kInput: {
      const RowTensor& tensor = rowwise_.in[static_cast<std::size_t>(of.input)];
      return tensor.type == DType::kF32 ? tensor.name : cast(tensor.name, DType::kF32);
    }
    case RowOp::kNumber:
      return number(of.number);
    case RowOp::kSelect:
      return select(of);
    case RowOp::kRsqrt:
      return node("Reciprocal", {node("Sqrt", {operand(0)})});
    case RowOp::kStep:
      return element({.step = of.step}, operand(0));
    case RowOp::kCast:
      return of.type == DType::kF32 ? operand(0) : cast(cast(operand(0), of.type), DType::kF32);
    default:
      break;
  }
  if (is_reduction(of.op)) return reduction(of);
  if (of.used().size() == 1) return node(named(kOperators, of.op), {operand(0)});
  const std::string both = node(named(kOperators, of.op), {operand(0), operand(1)});
  return is_comparison(of.op) ? cast(both, DType::kF32) : both;
}

std::string Writer::select(const RowNode& of) {
  const RowNode& question = at(of.operands[0]);
  const std::string yes = value(of.operands[1]), no = value(of.operands[2]);
  if (!is_comparison(question.op))
    return node("Where", {node("Equal", {value(of.operands[0]), number(0)}), no, yes});
  const std::string one = value(question.operands[0]), other = value(question.operands[1]);
  return node("Where", {node(named(kOperators, question.op), {one, other}), yes, no});
}

// A value that does not vary along the columns has one column, not n equal ones.
std::string Writer::reduction(const RowNode& of) {
  const std::string what = value(of.operands[0]);
  const bool varies = at(of.operands[0]).varies;
  if (of.op == RowOp::kVarOf) return varies ? variance(what) : node("Sub", {what, what});
  if (varies) return node(named(kOperators, of.op), {what, numbers({-1})});
  return of.op == RowOp::kSumOf ? node("Mul", {what, number(static_cast<float>(rowwise_.n))}) : what;
}

std::string Writer::variance(const std::string& of) {
  const std::string mean = node("ReduceMean", {of, numbers({-1})});
  const std::string distance = node("Sub", {of, mean});
  return node("ReduceMean", {node("Mul", {distance, distance}), numbers({-1})});
}

void Writer::output(const RowTensor& tensor, int of) {
  std::string result = value(of);
  if (shapes_[static_cast<std::size_t>(of)] != shape_of(tensor))
    result = node("Expand", {result, numbers(shape_of(tensor))});
  graph_ += tensor.type == DType::kF32
                ? node_record("Identity", {result}, tensor.name)
                : node_record("Cast", {result}, tensor.name,
                              int_attribute("to", static_cast<std::int64_t>(type_of(tensor.type))));
}

RowModel Writer::model() {
  RowModel result;
  for (std::size_t i = 0; i < expression_.nodes.size(); ++i) shapes_[i] = shape_of(expression_.nodes[i]);
  for (std::size_t i = 0; i < rowwise_.out.size(); ++i) output(rowwise_.out[i], expression_.outputs[i]);
  for (const std::vector<RowTensor>* tensors : {&rowwise_.in, &rowwise_.out})
    for (const RowTensor& tensor : *tensors)
      result.values.push_back({tensor.name, type_of(tensor.type), shape_of(tensor)});
  const std::span<const Value> values = result.values;
  result.bytes = model_bytes(graph_, values.first(rowwise_.in.size()), values.subspan(rowwise_.in.size()));
  return result;
}

}  // namespace

RowModel row_model(const Rowwise& rowwise, bool whole) {
  return Writer(rowwise, whole).model();
}

RowModel identity_model() {
  const std::vector<Value> values = {{"x", OrtElementType::kFloat, {1}}, {"y", OrtElementType::kFloat, {1}}};
  const std::span<const Value> all = values;
  return {model_bytes(node_record("Identity", {"x"}, "y"), all.first(1), all.subspan(1)), values};
}

}  // namespace lehr::onnxruntime
