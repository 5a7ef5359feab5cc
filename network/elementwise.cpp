#include "network/elementwise.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <set>

#include "network/piecewise.h"

namespace lehr {
namespace {

constexpr std::size_t kMostNodes = 12;  // upper limit for a group

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

double silu(double x) {
  return x * sigmoid(x);
}

double tangent(double x) {
  return std::tanh(x);
}

double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

double gelu_erf(double x) {
  return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
}

using Functions = std::vector<Piecewise>;

// Applies `join` to the first two inputs, then to the result and each further input.
std::optional<Piecewise> joined(const Functions& in,
                                std::optional<Piecewise> (*join)(const Piecewise&, const Piecewise&)) {
  if (in.empty()) return std::nullopt;
  std::optional<Piecewise> result = in[0];
  for (std::size_t i = 1; i < in.size() && result; ++i) result = join(*result, in[i]);
  return result;
}

// Returns min(max(f, low), high).
std::optional<Piecewise> clipped(const std::optional<Piecewise>& f, const Piecewise& low,
                                 const Piecewise& high) {
  const auto above = f ? larger(*f, low) : f;
  return above ? smaller(*above, high) : above;
}

// Returns clip(alpha f + beta, 0, 1).
std::optional<Piecewise> hard_sigmoid(const Piecewise& f, double alpha, double beta) {
  const auto scaled = product(f, constant_function(alpha));
  return clipped(scaled ? sum(*scaled, constant_function(beta)) : scaled, constant_function(0),
                 constant_function(1));
}

std::optional<Piecewise> leaky_relu(const Piecewise& f, double slope) {
  const auto above = larger(f, constant_function(0)), below = smaller(f, constant_function(0));
  const auto scaled = below ? product(*below, constant_function(slope)) : below;
  return above && scaled ? sum(*above, *scaled) : std::nullopt;
}

std::optional<Piecewise> hard_swish(const Piecewise& f) {
  const auto gate = hard_sigmoid(f, 1.0 / 6, 0.5);
  return gate ? product(f, *gate) : gate;
}

// Returns the function of a Clip. The bounds are attributes in older opsets. A missing bound is the largest
// finite number of the type, as the operator is defined, so that infinity is clipped, too.
std::optional<Piecewise> clip(const OnnxNode& node, const std::vector<std::optional<Piecewise>>& in) {
  if (in.empty() || in.size() > 3 || !in[0]) return std::nullopt;
  const auto bound = [&](std::size_t i, std::string_view name, float otherwise) {
    return node.input(i).empty() ? std::optional(constant_function(node.number(name, otherwise))) : in[i];
  };
  const auto low = bound(1, "min", -FLT_MAX), high = bound(2, "max", FLT_MAX);
  return low && high ? clipped(in[0], *low, *high) : std::nullopt;
}

// Returns the function that one node computes from the functions of its inputs; nullopt if the result is not
// piecewise polynomial. In `in`, an input that the node omits is nullopt.
std::optional<Piecewise> piecewise(const OnnxNode& node, const std::vector<std::optional<Piecewise>>& in) {
  const std::string_view op = node.op;
  if (op == "Clip") return clip(node, in);
  Functions all;
  for (const auto& each : in) {
    if (!each) return std::nullopt;
    all.push_back(*each);
  }
  if (op == "Sum") return joined(all, &sum);
  if (op == "Max") return joined(all, &larger);
  if (op == "Min") return joined(all, &smaller);
  const auto is = [&](std::string_view name, std::size_t count) { return op == name && all.size() == count; };
  if (is("Add", 2)) return sum(all[0], all[1]);
  if (is("Mul", 2)) return product(all[0], all[1]);
  if (is("Div", 2)) return quotient(all[0], all[1]);
  if (is("Sub", 2)) {
    const auto turned = product(all[1], constant_function(-1));
    return turned ? sum(all[0], *turned) : turned;
  }
  if (is("Neg", 1)) return product(all[0], constant_function(-1));
  if (is("Identity", 1)) return all[0];
  if (is("Relu", 1)) return larger(all[0], constant_function(0));
  if (is("LeakyRelu", 1)) return leaky_relu(all[0], node.number("alpha", 0.01F));
  if (is("HardSigmoid", 1))
    return hard_sigmoid(all[0], node.number("alpha", 0.2F), node.number("beta", 0.5F));
  if (is("HardSwish", 1)) return hard_swish(all[0]);
  return std::nullopt;
}

// Returns the result of one node for given numbers, if its operator is a function without breakpoints;
// nullopt for another operator.
std::optional<double> computed(const OnnxNode& node, const std::vector<double>& in) {
  const std::string_view op = node.op;
  const auto is = [&](std::string_view name, std::size_t count) { return op == name && in.size() == count; };
  if (is("Add", 2)) return in[0] + in[1];
  if (is("Sub", 2)) return in[0] - in[1];
  if (is("Mul", 2)) return in[0] * in[1];
  if (is("Div", 2)) return in[0] / in[1];
  if (is("Pow", 2)) return std::pow(in[0], in[1]);
  if (is("Identity", 1)) return in[0];
  if (is("Neg", 1)) return -in[0];
  if (is("Reciprocal", 1)) return 1 / in[0];
  if (is("Sqrt", 1)) return std::sqrt(in[0]);
  if (is("Exp", 1)) return std::exp(in[0]);
  if (is("Erf", 1)) return std::erf(in[0]);
  if (is("Tanh", 1)) return std::tanh(in[0]);
  if (is("Sigmoid", 1)) return sigmoid(in[0]);
  if (is("Gelu", 1)) return node.text("approximate", "none") == "tanh" ? gelu_tanh(in[0]) : gelu_erf(in[0]);
  return std::nullopt;
}

// Returns the step of the vocabulary that computes the function; nullopt if no step computes it. A function
// with only one bound has no step.
std::optional<EpilogueStep> step_of(const Piecewise& function) {
  const Piecewise x = identity_function(), zero = constant_function(0);
  const auto is = [&](const std::optional<Piecewise>& wanted) {
    return wanted && is_same(function, *wanted);
  };
  if (is(larger(x, zero))) return EpilogueStep{.op = EpilogueOp::kRelu};
  if (is(clipped(x, zero, constant_function(6)))) return EpilogueStep{.op = EpilogueOp::kRelu6};
  if (is(hard_swish(x))) return EpilogueStep{.op = EpilogueOp::kHardSwish};
  const auto as_float = [](double value) { return static_cast<float>(value); };
  const float slope = as_float(function.front().c[1]);
  // is_same() treats a rounded slope as equal to the exact slope.
  if (slope > 0 && slope < 1 && is(leaky_relu(x, slope)))
    return EpilogueStep{.op = EpilogueOp::kLeakyRelu, .numbers = {slope}};
  const float low = as_float(function.front().c[0]), high = as_float(function.back().c[0]);
  if (std::isfinite(low) && std::isfinite(high) && low < high &&
      is(clipped(x, constant_function(low), constant_function(high))))
    return EpilogueStep{.op = EpilogueOp::kClamp, .numbers = {low + 0.0F, high + 0.0F}};
  return std::nullopt;
}

// A smooth function of the vocabulary, and the error that its computation in f32 may have. GELU's tail is a
// difference of nearly equal numbers, so its error is proportional to the argument. The error of other
// functions is proportional to their value. Values below the smallest normal number count as equal.
struct Smooth {
  EpilogueOp op;
  double (*value)(double);
  double of_argument;  // error, as a multiple of the argument
};
constexpr double kOfValue = 1e-6, kOfNothing = 32.0 * FLT_MIN;
constexpr Smooth kSmooth[] = {{EpilogueOp::kGeluErf, gelu_erf, 0x1p-22},
                              {EpilogueOp::kGeluTanh, gelu_tanh, 0x1p-22},
                              {EpilogueOp::kSilu, silu, 0},
                              {EpilogueOp::kSigmoid, sigmoid, 0},
                              {EpilogueOp::kTanh, tangent, 0}};

bool is_near(double value, double x, const Smooth& smooth) {
  const double wanted = smooth.value(x);
  if (!std::isfinite(value) || !std::isfinite(wanted))
    return value == wanted || (std::isnan(value) && std::isnan(wanted));
  // Not a plain product, since 0 times an infinite x is no number.
  const double of_argument = smooth.of_argument > 0 ? smooth.of_argument * std::abs(x) : 0;
  return std::abs(value - wanted) <= kOfValue * std::abs(wanted) + of_argument + kOfNothing;
}

// Returns the points at which smooth functions are compared: points at which functions of the vocabulary
// differ from each other, tiny and huge numbers, and points near the group's own constants.
std::vector<double> points_for(const std::vector<double>& constants) {
  std::vector<double> points = {0, INFINITY};
  for (const double each : {1e-30, 1e-12, 1e-8, 1e-6, 1e-4, 1e-2, 0.125, 0.5,   1.0, 1.75, 2.5, 3.0,
                            4.25,  5.5,   6.0,  7.5,  15.0, 30.0, 80.0,  120.0, 1e4, 1e10, 1e30})
    points.push_back(each);
  for (const double each : constants) points.insert(points.end(), {each, 2 * each});
  for (std::size_t i = points.size(); i-- > 0;) points.push_back(-points[i]);
  return points;
}

/// Nodes that compute functions of one value, in the order of the graph.
class Group {
 public:
  Group(const OnnxModel& model, const GraphShapes& shapes, const Readers& readers, std::string_view value)
      : model_(model), shapes_(shapes), readers_(readers), begin_(value) {
    values_[value] = identity_function();
    open_.insert(value);
    for (const std::size_t reader : readers_of(value)) waiting_.insert(reader);
  }

  /// Adds nodes one by one until the group computes a function of the vocabulary.
  std::optional<FoundStep> grow() {
    while (!waiting_.empty() && nodes_.size() < kMostNodes) {
      const std::size_t next = *waiting_.begin();
      waiting_.erase(waiting_.begin());
      if (!take(next)) return std::nullopt;
      if (open_.size() != 1) continue;
      // Nodes outside of the group read only one of its values.
      const std::string_view output = *open_.begin();
      const std::optional<Piecewise>& function = values_.at(output);
      if (const std::optional<EpilogueStep> step = function ? step_of(*function) : smooth_step(output))
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
    if (index >= model_.nodes.size()) return false;  // an output of the graph, not a node
    const OnnxNode& node = model_.nodes[index];
    if (!node.domain.empty() || node.outputs.size() != 1) return false;
    std::vector<std::optional<Piecewise>> inputs;
    bool smooth = true;  // whether no input has a breakpoint
    for (const std::string_view input : node.inputs) {
      const auto known = values_.find(input);
      const auto constant = known == values_.end() ? scalar(input) : std::nullopt;
      if (known == values_.end() && !constant && !input.empty()) return false;
      inputs.push_back(known != values_.end() ? known->second
                       : constant             ? std::optional(constant_function(*constant))
                                              : std::nullopt);
      smooth = smooth && (!inputs.back() || inputs.back()->size() == 1);
      if (constant) constants_.push_back(*constant);
    }
    std::optional<Piecewise> function = piecewise(node, inputs);
    if (!function && !(smooth && computed(node, std::vector<double>(inputs.size(), 1)))) return false;
    nodes_.push_back(index);
    close(node);
    const std::string_view output = node.outputs[0];
    values_[output] = std::move(function);
    open_.insert(output);
    for (const std::size_t reader : readers_of(output)) waiting_.insert(reader);
    return true;
  }

  // Returns the only element of a constant that does not change the value's shape.
  std::optional<double> scalar(std::string_view name) const {
    const OnnxTensor* const tensor = shapes_.of(name).constant;
    const auto& shape = shapes_.of(begin_).shape;
    if (tensor == nullptr || element_count(*tensor) != 1 || !shape || tensor->dims.size() > shape->size())
      return std::nullopt;
    if (const auto floats = floats_of(*tensor, 1)) return (*floats)[0];
    if (const auto wholes = wholes_of(*tensor, 1)) return static_cast<double>((*wholes)[0]);
    return std::nullopt;
  }

  // Returns the value of `output` for one number. Each node's result is rounded as an engine rounds it.
  double at(double x, std::string_view output) const {
    std::unordered_map<std::string_view, double> values = {{begin_, static_cast<float>(x)}};
    for (const std::size_t index : nodes_) {
      const OnnxNode& node = model_.nodes[index];
      std::vector<double> in;
      for (const std::string_view input : node.inputs) {
        const auto known = values.find(input);
        in.push_back(known != values.end() ? known->second : scalar(input).value_or(NAN));
      }
      values[node.outputs[0]] = static_cast<float>(computed(node, in).value_or(NAN));
    }
    return values.at(output);
  }

  std::optional<EpilogueStep> smooth_step(std::string_view output) const {
    const std::vector<double> points = points_for(constants_);
    for (const Smooth& smooth : kSmooth)
      if (std::ranges::all_of(
              points, [&](double x) { return is_near(at(x, output), static_cast<float>(x), smooth); }))
        return EpilogueStep{.op = smooth.op};
    return std::nullopt;
  }

  // Closes the node's inputs that no node outside of the group reads.
  void close(const OnnxNode& node) {
    for (const std::string_view input : node.inputs)
      if (open_.contains(input) && std::ranges::all_of(readers_of(input), [&](std::size_t reader) {
            return std::ranges::find(nodes_, reader) != nodes_.end();
          }))
        open_.erase(input);
  }

  const OnnxModel& model_;
  const GraphShapes& shapes_;
  const Readers& readers_;
  const std::string_view begin_;
  /// The functions that the group's values are; nullopt for a function that is not piecewise polynomial.
  std::unordered_map<std::string_view, std::optional<Piecewise>> values_;
  std::vector<double> constants_;
  std::set<std::string_view> open_;  ///< values that nodes outside of the group may read
  std::set<std::size_t> waiting_;    ///< readers of the group's values
  std::vector<std::size_t> nodes_;
};

}  // namespace

Readers readers_of(const OnnxModel& model) {
  // Stands for the graph's outputs and for subgraphs.
  constexpr std::size_t kOutside = static_cast<std::size_t>(-1);
  Readers readers;
  for (std::size_t i = 0; i < model.nodes.size(); ++i)
    for (const std::string_view input : model.nodes[i].inputs)
      if (!input.empty()) readers[input].push_back(i);
  for (const OnnxNode& node : model.nodes)
    for (const std::string_view name : node.captured) readers[name].push_back(kOutside);
  for (const OnnxValueInfo& output : model.outputs) readers[output.name].push_back(kOutside);
  return readers;
}

std::optional<FoundStep> function_of_value(const OnnxModel& model, const GraphShapes& shapes,
                                           const Readers& readers, std::string_view value) {
  return Group(model, shapes, readers, value).grow();
}

}  // namespace lehr
