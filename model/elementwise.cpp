#include "model/elementwise.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace lehr {
namespace {

constexpr std::size_t kMostNodes = 12;  // of a group

// Where functions of the vocabulary differ from each other, and where they end.
constexpr double kPoints[] = {-30,   -7.5, -6, -4.25, -3,  -2.5, -1.75, -1,  -0.5, -0.125, 0,
                              0.125, 0.5,  1,  1.75,  2.5, 3,    4.25,  5.5, 6,    7.5,    30};
using Values = std::vector<double>;  // at each of them

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

double gelu_erf(double x) {
  return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
}

// What one node makes of numbers; nullopt for an operator that is not of this kind.
std::optional<double> computed(const OnnxNode& node, const std::vector<double>& in) {
  const std::string_view op = node.op;
  const auto is = [&](std::string_view name, std::size_t count) { return op == name && in.size() == count; };
  if (is("Add", 2)) return in[0] + in[1];
  if (is("Sub", 2)) return in[0] - in[1];
  if (is("Mul", 2)) return in[0] * in[1];
  if (is("Div", 2)) return in[0] / in[1];
  if (is("Pow", 2)) return std::pow(in[0], in[1]);
  if (is("Max", 2)) return std::max(in[0], in[1]);
  if (is("Min", 2)) return std::min(in[0], in[1]);
  if (is("Identity", 1)) return in[0];
  if (is("Neg", 1)) return -in[0];
  if (is("Reciprocal", 1)) return 1 / in[0];
  if (is("Sqrt", 1)) return std::sqrt(in[0]);
  if (is("Exp", 1)) return std::exp(in[0]);
  if (is("Erf", 1)) return std::erf(in[0]);
  if (is("Tanh", 1)) return std::tanh(in[0]);
  if (is("Sigmoid", 1)) return sigmoid(in[0]);
  if (is("Softplus", 1)) return std::log1p(std::exp(in[0]));
  if (is("Relu", 1)) return std::max(in[0], 0.0);
  if (is("LeakyRelu", 1)) return in[0] < 0 ? in[0] * node.number("alpha", 0.01F) : in[0];
  if (is("HardSigmoid", 1))
    return std::clamp(node.number("alpha", 0.2F) * in[0] + node.number("beta", 0.5F), 0.0, 1.0);
  if (is("HardSwish", 1)) return in[0] * std::clamp(in[0] / 6 + 0.5, 0.0, 1.0);
  if (is("Gelu", 1)) return node.text("approximate", "none") == "tanh" ? gelu_tanh(in[0]) : gelu_erf(in[0]);
  if (op == "Clip" && !in.empty() && in.size() <= 3) {
    // Bounds were attributes once.
    const double low = in.size() > 1 ? in[1] : node.number("min", -INFINITY);
    const double high = in.size() > 2 ? in[2] : node.number("max", INFINITY);
    return std::min(std::max(in[0], low), high);
  }
  return std::nullopt;
}

// The one element of a constant.
std::optional<double> scalar(const ModelShapes& shapes, std::string_view name) {
  const OnnxTensor* const tensor = shapes.of(name).constant;
  if (tensor == nullptr || element_count(*tensor) != 1) return std::nullopt;
  if (const auto floats = floats_of(*tensor, 1)) return (*floats)[0];
  if (const auto wholes = wholes_of(*tensor, 1)) return static_cast<double>((*wholes)[0]);
  return std::nullopt;
}

bool are_near(const Values& values, double (*function)(double, const EpilogueStep&),
              const EpilogueStep& step) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double wanted = function(kPoints[i], step);
    if (!(std::abs(values[i] - wanted) <= 1e-5 * (1 + std::abs(wanted)))) return false;
  }
  return true;
}

double value_of(double x, const EpilogueStep& step) {
  switch (step.op) {
    case EpilogueOp::kRelu:
      return std::max(x, 0.0);
    case EpilogueOp::kRelu6:
      return std::clamp(x, 0.0, 6.0);
    case EpilogueOp::kClamp:
      return std::clamp<double>(x, step.low, step.high);
    case EpilogueOp::kLeakyRelu:
      return x < 0 ? x * step.slope : x;
    case EpilogueOp::kHardSwish:
      return x * std::clamp(x / 6 + 0.5, 0.0, 1.0);
    case EpilogueOp::kGeluTanh:
      return gelu_tanh(x);
    case EpilogueOp::kGeluErf:
      return gelu_erf(x);
    case EpilogueOp::kSilu:
      return x * sigmoid(x);
    case EpilogueOp::kSigmoid:
      return sigmoid(x);
    case EpilogueOp::kTanh:
      return std::tanh(x);
    default:
      return NAN;
  }
}

std::optional<EpilogueStep> step_of(const Values& values) {
  for (const EpilogueOp op :
       {EpilogueOp::kRelu, EpilogueOp::kRelu6, EpilogueOp::kGeluErf, EpilogueOp::kGeluTanh, EpilogueOp::kSilu,
        EpilogueOp::kSigmoid, EpilogueOp::kTanh, EpilogueOp::kHardSwish})
    if (const EpilogueStep step = {.op = op}; are_near(values, &value_of, step)) return step;
  EpilogueStep leaky = {.op = EpilogueOp::kLeakyRelu};
  leaky.slope = static_cast<float>(values.front() / kPoints[0]);
  if (leaky.slope > 0 && leaky.slope < 1 && are_near(values, &value_of, leaky)) return leaky;
  EpilogueStep clamp = {.op = EpilogueOp::kClamp};
  clamp.low = static_cast<float>(values.front()), clamp.high = static_cast<float>(values.back());
  if (clamp.low < clamp.high && clamp.low > kPoints[0] && clamp.high < 30 &&
      are_near(values, &value_of, clamp))
    return clamp;
  return std::nullopt;
}

/// Nodes that compute functions of one value, in the order of the graph.
class Group {
 public:
  Group(const OnnxModel& model, const ModelShapes& shapes, const Readers& readers, std::string_view value)
      : model_(model), shapes_(shapes), readers_(readers) {
    values_[value] = Values(std::begin(kPoints), std::end(kPoints));
    open_.insert(value);
    for (const std::size_t reader : readers_of(value)) waiting_.insert(reader);
  }

  /// Takes nodes one after the other until they are a function of the vocabulary.
  std::optional<FoundStep> grow() {
    while (!waiting_.empty() && nodes_.size() < kMostNodes) {
      const std::size_t next = *waiting_.begin();
      waiting_.erase(waiting_.begin());
      if (!take(next)) return std::nullopt;
      if (open_.size() != 1) continue;
      // All but one value are read within the group alone.
      const std::string_view output = *open_.begin();
      if (const std::optional<EpilogueStep> step = step_of(values_.at(output)))
        return FoundStep{*step, nodes_, output};
    }
    return std::nullopt;
  }

 private:
  const std::vector<std::size_t>& readers_of(std::string_view value) const {
    static const std::vector<std::size_t> kNone;
    const auto found = readers_.find(value);
    return found == readers_.end() ? kNone : found->second;
  }

  bool take(std::size_t index) {
    if (index >= model_.nodes.size()) return false;  // the graph's own output
    const OnnxNode& node = model_.nodes[index];
    if (!node.domain.empty() || node.outputs.size() != 1) return false;
    std::vector<Values> inputs;
    for (const std::string_view input : node.inputs) {
      const auto known = values_.find(input);
      const auto constant = scalar(shapes_, input);
      if (known == values_.end() && !constant) return false;
      inputs.push_back(known != values_.end() ? known->second : Values(std::size(kPoints), *constant));
    }
    Values result;
    for (std::size_t i = 0; i < std::size(kPoints); ++i) {
      std::vector<double> in;
      for (const Values& each : inputs) in.push_back(each[i]);
      const auto value = computed(node, in);
      if (!value) return false;
      result.push_back(*value);
    }
    nodes_.push_back(index);
    close(node);
    const std::string_view output = node.outputs[0];
    values_[output] = std::move(result);
    open_.insert(output);
    for (const std::size_t reader : readers_of(output)) waiting_.insert(reader);
    return true;
  }

  // What only nodes of the group read goes no further.
  void close(const OnnxNode& node) {
    for (const std::string_view input : node.inputs)
      if (open_.contains(input) && std::ranges::all_of(readers_of(input), [&](std::size_t reader) {
            return std::ranges::find(nodes_, reader) != nodes_.end();
          }))
        open_.erase(input);
  }

  const OnnxModel& model_;
  const ModelShapes& shapes_;
  const Readers& readers_;
  std::unordered_map<std::string_view, Values> values_;
  std::set<std::string_view> open_;  ///< values that somebody outside of the group may read
  std::set<std::size_t> waiting_;    ///< readers of the group's values
  std::vector<std::size_t> nodes_;
};

}  // namespace

Readers readers_of(const OnnxModel& model) {
  constexpr std::size_t kOutside = static_cast<std::size_t>(-1);  // the graph's outputs, and subgraphs
  Readers readers;
  for (std::size_t i = 0; i < model.nodes.size(); ++i)
    for (const std::string_view input : model.nodes[i].inputs)
      if (!input.empty()) readers[input].push_back(i);
  for (const OnnxNode& node : model.nodes)
    for (const std::string_view name : node.captured) readers[name].push_back(kOutside);
  for (const OnnxValueInfo& output : model.outputs) readers[output.name].push_back(kOutside);
  return readers;
}

std::optional<FoundStep> function_of_value(const OnnxModel& model, const ModelShapes& shapes,
                                           const Readers& readers, std::string_view value) {
  return Group(model, shapes, readers, value).grow();
}

}  // namespace lehr
