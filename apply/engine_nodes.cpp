#include "apply/engine_nodes.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "apply/narrow_values.h"
#include "base/error.h"
#include "network/constants.h"

namespace lehr {
namespace {

using nlohmann::json;

json attribute_json(const OnnxNode& node, const OnnxAttribute& attribute) {
  // Old exporters do not tell the type: then it is what is there.
  std::int64_t type = attribute.type;
  if (type == 0)
    type = !attribute.wholes.empty()    ? 7
           : !attribute.numbers.empty() ? 6
           : !attribute.text.empty()    ? 3
           : attribute.number != 0      ? 1
                                        : 2;
  switch (type) {
    case 1:
      return {{"f", attribute.number}};
    case 2:
      return {{"i", attribute.whole}};
    case 3:
      return {{"s", attribute.text}};
    case 6:
      return {{"floats", attribute.numbers}};
    case 7:
      return {{"ints", attribute.wholes}};
    default:
      throw_user("{} has an attribute '{}' of a type that is not taken over", node.op, attribute.name);
  }
}

/// Scales and zero points of channels at most.
constexpr std::int64_t kMostElements = 65536;

/// Returns the elements as a plan's operand. One number stands for those of any rank: who reads it broadcasts
/// it. A list has a shape where it has not one dimension.
template <typename Values>
json constant_operand(const Values& values, const std::vector<std::int64_t>& shape, const char* number,
                      const char* list) {
  if (values.size() == 1 && shape.size() != 1) return {{"constant", {{number, values[0]}}}};
  json operand = {{"constant", {{list, values}}}};
  if (shape.size() > 1) operand["shape"] = shape;
  return operand;
}

/// Returns a short constant of the graph as a plan's operand: one number or, for a place of whole numbers,
/// which has scales and what is added in f32, several; null for others.
json constant_json(const OnnxModel& model, const GraphShapes& shapes, std::string_view name, bool of_wholes) {
  const OnnxTensor* const tensor = shapes.of(name).constant;
  if (tensor == nullptr) return nullptr;
  const std::int64_t count = element_count(*tensor);
  if (count < 1 || count > (of_wholes ? kMostElements : 1)) return nullptr;
  const std::vector<std::int64_t> shape = of_wholes ? tensor->dims : std::vector<std::int64_t>();
  if (tensor->type == OnnxType::kF32)
    return constant_operand(f32_elements(model, *tensor), shape, "f", "floats");
  const std::string type = name_of(tensor->type);
  if (of_wholes && (type == "u8" || type == "s8" || type == "s32"))
    return constant_operand(whole_elements(model, *tensor), shape, type.c_str(), type.c_str());
  return nullptr;
}

/// Returns the one exponent of a Pow, which may be a whole number, as a plan's operand of f32; null for
/// others.
json exponent_json(const OnnxModel& model, const GraphShapes& shapes, std::string_view name) {
  const OnnxTensor* const tensor = shapes.of(name).constant;
  if (tensor == nullptr || element_count(*tensor) != 1) return nullptr;
  const float exponent = tensor->type == OnnxType::kF32
                             ? f32_elements(model, *tensor)[0]
                             : static_cast<float>(whole_elements(model, *tensor)[0]);
  return {{"constant", {{"f", exponent}}}};
}

/// Which input of an operator each of its type constraints is of, in the versions of its domain from `since`
/// on; kOutput for the output.
struct Constraint {
  const char* name;
  int input;
};
constexpr int kOutput = -1;
struct TypedOperator {
  std::string_view op;
  std::int64_t since;
  std::vector<Constraint> constraints;
};

/// Operators of integers, https://onnx.ai/onnx/operators and, of the domain com.microsoft,
/// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md. The newest version first.
const std::vector<TypedOperator>& typed_operators() {
  static const std::vector<TypedOperator> kOperators = {
      {"DequantizeLinear", 23, {{"T1", 0}, {"T2", 1}, {"T3", kOutput}}},
      {"DequantizeLinear", 19, {{"T1", 0}, {"T2", 1}}},
      {"DequantizeLinear", 1, {{"T", 0}}},
      {"QuantizeLinear", 23, {{"T1", 0}, {"T2", 1}, {"T3", kOutput}}},
      {"QuantizeLinear", 1, {{"T1", 0}, {"T2", kOutput}}},
      {"QLinearConv", 1, {{"T1", 0}, {"T2", 3}, {"T3", kOutput}, {"T4", 8}}},
      {"QLinearMatMul", 21, {{"TS", 1}, {"T1", 0}, {"T2", 3}, {"T3", kOutput}}},
      {"QLinearMatMul", 1, {{"T1", 0}, {"T2", 3}, {"T3", kOutput}}},
      {"QLinearAdd", 1, {{"T", 0}}},
      {"QGemm", 1, {{"T", 1}, {"TA", 0}, {"TB", 3}, {"TC", 6}, {"TY", kOutput}}}};
  return kOperators;
}

/// Of the type constraints that are of no input the operator is given: the bias of integers.
constexpr std::string_view kLeftOutType = "s32";

class Translation {
 public:
  Translation(const OnnxModel& model, const GraphShapes& shapes, const NetworkPlace& place,
              const std::vector<FusedInput>& inputs)
      : model_(model), shapes_(shapes), of_wholes_(!place.made.empty()), inputs_(inputs.size()) {
    for (const std::size_t node : place.before)
      if (!model.nodes[node].outputs.empty()) before_[model.nodes[node].outputs[0]] = &model.nodes[node];
    for (std::size_t i = 0; i < inputs.size(); ++i)
      read_.push_back(inputs[i].narrowed ? cast(static_cast<std::int64_t>(i), "bf16", "f32")
                                         : static_cast<std::int64_t>(i));
    // Of several of one value the first, and one that is not rounded before others.
    for (const bool narrowed : {true, false})
      for (std::size_t i = inputs.size(); i-- > 0;)
        if (!inputs[i].value.empty() && inputs[i].narrowed == narrowed) numbers_[inputs[i].value] = read_[i];
    if (!place.dequantize) return;
    before_[place.dequantize->outputs[0]] = &*place.dequantize;
    numbers_[place.dequantize->input(0)] = read_[1];
  }

  /// Appends a cast; the number of its output.
  std::int64_t cast(std::int64_t number, const std::string& from, const std::string& to) {
    const OnnxType type = to == "f32" ? OnnxType::kF32 : OnnxType::kBf16;
    return add("", "Cast", to, {{"T1", from}, {"T2", to}}, {number},
               {{"to", {{"i", static_cast<std::int64_t>(type)}}}});
  }

  /// The number of an input as the nodes read it.
  std::int64_t read(std::size_t input) const { return read_[input]; }

  /// Appends an operator of f32; the number of its output.
  std::int64_t add(std::string_view op, std::vector<json> inputs, json attributes) {
    return add("", op, "f32", {{"T", "f32"}}, std::move(inputs), std::move(attributes));
  }

  /// The same of a domain, and of types. `makes`: of its output.
  std::int64_t add(std::string_view domain, std::string_view op, const std::string& makes, json types,
                   std::vector<json> inputs, json attributes) {
    if (op == "MaxPool") types["I"] = "s64";  // of the indices, which nobody takes
    if (op == "Pow") types["T1"] = "f32";
    const auto version = model_.opsets.find(domain);
    nodes_.push_back({{"op", op},
                      {"domain", domain},
                      {"version", version == model_.opsets.end() ? 1 : version->second},
                      {"types", std::move(types)},
                      {"inputs", std::move(inputs)},
                      {"attributes", std::move(attributes)}});
    if (makes != "f32") nodes_.back()["makes"] = makes;
    return newest();
  }

  void name(std::string_view value, std::int64_t number) { numbers_[value] = number; }

  json input(const OnnxNode& node, std::string_view value) const {
    if (value.empty()) return -1;
    if (const auto found = numbers_.find(value); found != numbers_.end()) return found->second;
    json constant = node.op == "Pow" ? exponent_json(model_, shapes_, value)
                                     : constant_json(model_, shapes_, value, of_wholes_);
    if (!constant.is_null()) return constant;
    throw_user("{} reads '{}', which is not one of its tensors", node.op, value);
  }

  std::vector<json> inputs_of(const OnnxNode& node) const {
    std::vector<json> inputs;
    for (const std::string_view value : node.inputs) inputs.push_back(input(node, value));
    return inputs;
  }

  static json attributes_of(const OnnxNode& node) {
    json attributes = json::object();
    for (const OnnxAttribute& attribute : node.attributes)
      attributes[std::string(attribute.name)] = attribute_json(node, attribute);
    return attributes;
  }

  /// The node of NetworkPlace::before that makes a value; nullptr: none does.
  const OnnxNode* before(std::string_view value) const {
    const auto found = before_.find(value);
    return found == before_.end() ? nullptr : found->second;
  }

  /// One node of the graph, behind what it reads of NetworkPlace::before.
  void translate(const OnnxNode& node) {
    for (const std::string_view value : node.inputs)
      if (const OnnxNode* const maker = before(value); maker != nullptr && !numbers_.contains(value))
        translate(*maker);
    if (node.op == "Identity") {
      name(node.outputs[0], input(node, node.input(0)).get<std::int64_t>());
      // As engines do, https://onnx.ai/onnx/operators/onnx__HardSwish.html.
    } else if (node.op == "HardSwish") {
      const json x = input(node, node.input(0));
      const std::int64_t gate =
          add("HardSigmoid", {x}, {{"alpha", {{"f", 1.0F / 6}}}, {"beta", {{"f", 0.5F}}}});
      name(node.outputs[0], add("Mul", {x, gate}, json::object()));
    } else {
      const std::string makes = type_of(node.outputs[0]);
      name(node.outputs[0], add(node.domain, node.op, makes, types_of(node, node.op, makes), inputs_of(node),
                                attributes_of(node)));
    }
  }

  /// By the type constraints of an operator that computes this node.
  json types_of(const OnnxNode& node, std::string_view op, const std::string& makes) const {
    const auto said = model_.opsets.find(node.domain);
    const std::int64_t version = said == model_.opsets.end() ? 1 : said->second;
    for (const TypedOperator& each : typed_operators()) {
      if (each.op != op || version < each.since) continue;
      json types = json::object();
      for (const Constraint& one : each.constraints) {
        const std::string_view input =
            one.input == kOutput ? "" : node.input(static_cast<std::size_t>(one.input));
        types[one.name] = one.input == kOutput ? makes : input.empty() ? kLeftOutType : type_of(input);
      }
      return types;
    }
    return {{"T", makes}};
  }

  /// Of a value of the graph; f32 where it is not known.
  std::string type_of(std::string_view value) const {
    const OnnxType type = shapes_.of(value).type;
    return type == OnnxType::kUnknown ? "f32" : lehr::name_of(type);
  }

  /// The number of the last operator's output.
  std::int64_t newest() const { return static_cast<std::int64_t>(inputs_ + nodes_.size()) - 1; }
  json take() { return std::move(nodes_); }

 private:
  const OnnxModel& model_;
  const GraphShapes& shapes_;
  const bool of_wholes_;  ///< the place computes with whole numbers
  const std::size_t inputs_;
  std::vector<std::int64_t> read_;
  std::unordered_map<std::string_view, std::int64_t> numbers_;  ///< of values
  std::unordered_map<std::string_view, const OnnxNode*> before_;
  json nodes_ = json::array();
};

bool has_bias(const Workload& workload) {
  const auto& steps = workload.epilogue.steps;
  return !steps.empty() && steps[0].op == EpilogueOp::kBias;
}

/// Which input the scale of the step scale_shift is.
std::size_t scale_input(const Workload& workload) {
  std::size_t at = 2;
  for (const EpilogueStep& step : workload.epilogue.steps) {
    if (step.op == EpilogueOp::kScaleShift) return at;
    if (step.op == EpilogueOp::kBias || step.op == EpilogueOp::kResidual) ++at;
  }
  return at;
}

/// The convolution or product with what was folded into its filter and bias.
void translate_folded(const OnnxNode& main, const Workload& workload, Translation& to) {
  std::vector<json> inputs = {to.read(0), to.read(1)};
  const bool takes_bias = main.op == "Conv" || main.op == "Gemm";
  if (has_bias(workload) && takes_bias) inputs.push_back(to.read(2));
  json attributes = Translation::attributes_of(main);
  // It scales the C that the node may have had; with the bias nothing is left to do.
  attributes.erase("beta");
  std::int64_t made = to.add(main.op, inputs, std::move(attributes));
  if (has_bias(workload) && !takes_bias) made = to.add("Add", {made, to.read(2)}, json::object());
  to.name(main.outputs[0], made);
}

/// The engine's operator of whole numbers that a Conv or MatMul is between what dequantizes its operands and
/// the node that quantizes its output; nullopt where it is not between these alone, one says no zero point,
/// or they are of two types, which engines have no operator for.
std::optional<OnnxNode> between_wholes(const OnnxModel& model, const NetworkPlace& place,
                                       const Translation& to) {
  const OnnxNode& main = model.nodes[place.nodes[0]];
  if (place.nodes.size() < 2 || (main.op != "Conv" && main.op != "MatMul")) return std::nullopt;
  const OnnxNode &quantize = model.nodes[place.nodes[1]], *const x = to.before(main.input(0)),
                 *const w = to.before(main.input(1));
  if (quantize.op != "QuantizeLinear" || x == nullptr || w == nullptr ||
      to.type_of(x->input(0)) != to.type_of(quantize.outputs[0]))
    return std::nullopt;
  OnnxNode coded;
  coded.op = main.op == "Conv" ? "QLinearConv" : "QLinearMatMul";
  coded.attributes = main.attributes;
  coded.inputs = {x->input(0), x->input(1), x->input(2),       w->input(0),
                  w->input(1), w->input(2), quantize.input(1), quantize.input(2)};
  if (std::ranges::find(coded.inputs, "") != coded.inputs.end()) return std::nullopt;
  if (!main.input(2).empty()) {
    const OnnxNode* const bias = to.before(main.input(2));
    if (bias == nullptr || place.inputs.size() < 3 ||
        std::ranges::find(place.inputs, bias->input(0)) == place.inputs.end())
      return std::nullopt;
    coded.inputs.push_back(bias->input(0));
  }
  coded.outputs = quantize.outputs;
  return coded;
}

}  // namespace

json engine_nodes(const OnnxModel& model, const GraphShapes& shapes, const Workload& workload,
                  const NetworkPlace& place, const std::vector<FusedInput>& inputs, bool folded) {
  Translation to(model, shapes, place, inputs);
  const OnnxNode& main = model.nodes[place.nodes[0]];
  const std::optional<OnnxNode> coded = between_wholes(model, place, to);
  if (folded)
    translate_folded(main, workload, to);
  else
    to.translate(coded ? *coded : main);
  const std::size_t first = coded ? 2 : 1;
  std::int64_t last = to.input(main, model.nodes[place.nodes[first - 1]].outputs[0]).get<std::int64_t>();
  for (std::size_t i = first; i < place.nodes.size(); ++i) {
    const OnnxNode& node = model.nodes[place.nodes[i]];
    const bool is_linear = std::ranges::find(place.linear, place.nodes[i]) != place.linear.end();
    const auto scaling = std::ranges::find(place.scaling, place.nodes[i]);
    if ((folded && is_linear) || (scaling != place.scaling.end() && scaling != place.scaling.begin())) {
      to.name(node.outputs[0], last);
    } else if (scaling != place.scaling.end()) {
      const std::size_t scale = scale_input(workload);
      const std::int64_t scaled = to.add("Mul", {last, to.read(scale)}, json::object());
      to.name(node.outputs[0], to.add("Add", {scaled, to.read(scale + 1)}, json::object()));
    } else {
      to.translate(node);
    }
    last = to.input(node, node.outputs[0]).get<std::int64_t>();
  }
  if (last != to.newest()) throw_user("its last node is not the one that makes its output");
  if (output_type(workload) == DType::kBF16 && shapes.of(place.output).type == OnnxType::kF32)
    to.cast(last, "f32", "bf16");
  return to.take();
}

}  // namespace lehr
