#include "network/shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "network/shape_rules.h"

namespace lehr {
namespace {

// Upper limit of the elements of a constant that may be a list of sizes.
constexpr std::int64_t kMostWholes = 1024;
constexpr std::size_t kMostDims = 64;

using Shape = std::vector<Dim>;

std::optional<Shape> bound(const OnnxValueInfo& value, const ShapeBindings& bindings) {
  if (!value.dims) return std::nullopt;
  Shape shape;
  for (const OnnxDim& dim : *value.dims) {
    const auto named = bindings.dims.find(std::string(dim.name));
    shape.push_back(dim.size ? dim.size : named != bindings.dims.end() ? Dim(named->second) : Dim());
  }
  return shape;
}

// Returns an input's shape, with the sizes that the user gives for the input.
std::optional<Shape> input_shape(const OnnxValueInfo& input, const ShapeBindings& bindings) {
  std::optional<Shape> shape = bound(input, bindings);
  const auto stated = bindings.inputs.find(std::string(input.name));
  if (stated == bindings.inputs.end()) return shape;
  const std::vector<std::int64_t>& sizes = stated->second;
  if (shape && shape->size() != sizes.size())
    throw_user("--input {}={}: it has {} dimensions", input.name, fmt::join(sizes, "x"), shape->size());
  for (std::size_t i = 0; shape && i < sizes.size(); ++i)
    if ((*shape)[i] && *(*shape)[i] != sizes[i])
      throw_user("--input {}={}: its dimension {} is {}", input.name, fmt::join(sizes, "x"), i + 1,
                 *(*shape)[i]);
  return Shape(sizes.begin(), sizes.end());
}

/// Whether a dimension of an input is the batch: its name contains "batch". If no dimension has such a name,
/// the first of several dimensions is the batch.
bool is_batch(const std::vector<OnnxDim>& dims, std::size_t i) {
  const auto called_so = [](const OnnxDim& dim) {
    return lower_case(dim.name).find("batch") != std::string::npos;
  };
  return called_so(dims[i]) || (i == 0 && dims.size() > 1 && std::ranges::none_of(dims, called_so));
}

/// Returns flags for the missing sizes of an input: --dim for each dimension, or --input if a dimension has
/// no name.
std::vector<std::string> missing_sizes(const OnnxValueInfo& input, const std::optional<Shape>& shape) {
  const std::string whole = fmt::format("--input {}=", input.name);
  if (!shape) return {whole + "1x..."};
  std::vector<std::string> sizes, flags;
  bool all_named = true;
  for (std::size_t i = 0; i < shape->size(); ++i) {
    const OnnxDim& dim = (*input.dims)[i];
    sizes.push_back((*shape)[i] ? std::to_string(*(*shape)[i]) : is_batch(*input.dims, i) ? "1" : "?");
    if ((*shape)[i]) continue;
    all_named = all_named && !dim.name.empty();
    flags.push_back(fmt::format("--dim {}={}", dim.name, sizes.back()));
  }
  return all_named ? flags : std::vector<std::string>{whole + fmt::format("{}", fmt::join(sizes, "x"))};
}

void check_bindings(const OnnxModel& model, const ShapeBindings& bindings) {
  for (const auto& [name, size] : bindings.dims) {
    std::vector<std::string_view> known;
    for (const OnnxValueInfo& input : model.inputs)
      for (const OnnxDim& dim : input.dims.value_or(std::vector<OnnxDim>()))
        if (!dim.name.empty() && std::ranges::find(known, dim.name) == known.end()) known.push_back(dim.name);
    if (std::ranges::find(known, name) == known.end())
      throw_user("--dim {}={}: no input has a dimension of that name{}", name, size,
                 known.empty() ? "" : fmt::format("; there are {}", fmt::join(known, ", ")));
  }
  for (const auto& [name, sizes] : bindings.inputs)
    if (std::ranges::find(model.inputs, std::string_view(name), &OnnxValueInfo::name) == model.inputs.end())
      throw_user("--input {}={}: the model has no input of that name", name, fmt::join(sizes, "x"));
}

bool complete(const ValueFacts& facts) {
  return facts.shape && std::ranges::all_of(*facts.shape, [](const Dim& dim) { return dim.has_value(); });
}

// Adds facts that the file states to the facts that a rule found. A dimension is known if either of both
// knows it.
void add_stated(ValueFacts& facts, const ValueFacts& stated) {
  if (facts.type == OnnxType::kUnknown) facts.type = stated.type;
  if (!facts.shape) facts.shape = stated.shape;
  if (!stated.shape || stated.shape->size() != facts.shape->size()) return;
  for (std::size_t i = 0; i < facts.shape->size(); ++i)
    if (!(*facts.shape)[i]) (*facts.shape)[i] = (*stated.shape)[i];
}

// Drops facts beyond the limits, since a hostile file's nodes may make huge shapes.
void keep_within_limits(ValueFacts& facts) {
  if (facts.shape && facts.shape->size() > kMostDims) facts.shape.reset();
  if (facts.wholes && facts.wholes->size() > std::size_t{kMostWholes}) facts.wholes.reset();
  for (Dim& dim : facts.shape ? *facts.shape : Shape())
    if (dim && *dim < 0) dim.reset();
}

// Whether the node always computes the same from the same inputs. Nodes with subgraphs are excluded, since
// they may read other values.
bool is_repeatable(const OnnxNode& node) {
  return !node.op.starts_with("Random") && node.op != "Bernoulli" && node.op != "Multinomial" &&
         std::ranges::none_of(node.attributes, &OnnxAttribute::has_graph);
}

std::string why_open(const OnnxNode& node, ShapeRule rule) {
  if (!node.domain.empty()) return fmt::format("it is of the domain {}", node.domain);
  if (std::ranges::any_of(node.attributes, &OnnxAttribute::has_graph)) return "it has a graph of its own";
  return rule == nullptr ? "its operator is not known" : "it depends on what is computed";
}

class Inference {
 public:
  Inference(const OnnxModel& model, const ShapeBindings& bindings) : model_(model) {
    check_bindings(model, bindings);
    for (const OnnxValueInfo& input : model.inputs) add_input(input, input_shape(input, bindings));
    for (const OnnxTensor& tensor : model.constants) {
      ValueFacts& facts = result_.values[tensor.name];
      const Shape shape(tensor.dims.begin(), tensor.dims.end());
      if (tensor.overridable) {
        add_stated(facts, {tensor.type, shape, {}, nullptr, false});
        continue;
      }
      facts = {tensor.type, shape, {}, &tensor, true};
      if (const auto wholes = wholes_of(tensor, kMostWholes))
        facts.wholes = Shape(wholes->begin(), wholes->end());
    }
    for (const auto* values : {&model.between, &model.outputs})
      for (const OnnxValueInfo& value : *values)
        stated_[value.name] = {value.type, bound(value, bindings), {}, nullptr, false};
  }

  GraphShapes run() {
    for (std::size_t i = 0; i < model_.nodes.size(); ++i) visit(model_.nodes[i], i);
    return std::move(result_);
  }

 private:
  void add_input(const OnnxValueInfo& input, std::optional<Shape> shape) {
    ValueFacts& facts = result_.values[input.name];
    facts = {input.type, std::move(shape), {}, nullptr, false};
    const bool is_constant =
        std::ranges::find(model_.constants, input.name, &OnnxTensor::name) != model_.constants.end();
    if (complete(facts) || is_constant || input.type == OnnxType::kUnknown) return;
    std::vector<std::string> words;
    for (std::size_t i = 0; facts.shape && i < facts.shape->size(); ++i) {
      const std::string_view name = (*input.dims)[i].name;
      words.push_back((*facts.shape)[i] ? std::to_string(*(*facts.shape)[i])
                      : name.empty()    ? "?"
                                        : std::string(name));
    }
    result_.unknown.push_back(fmt::format("input '{}' ({})", input.name, fmt::join(words, "x")));
    const auto what = [](const std::string& flag) { return flag.substr(0, flag.rfind('=')); };
    for (const std::string& flag : missing_sizes(input, facts.shape))
      if (std::ranges::find(result_.missing_sizes, what(flag), what) == result_.missing_sizes.end())
        result_.missing_sizes.push_back(flag);
  }

  void visit(const OnnxNode& node, std::size_t index) {
    ShapeSite site{
        node, model_.opset(), {}, std::vector<ValueFacts>(std::max<std::size_t>(node.outputs.size(), 1))};
    bool all_known = true, fixed = is_repeatable(node);
    for (const std::string_view input : node.inputs) {
      site.inputs.push_back(&result_.of(input));
      all_known = all_known && (input.empty() || complete(*site.inputs.back()));
      fixed = fixed && (input.empty() || site.inputs.back()->fixed);
    }
    const ShapeRule rule = shape_rule_of(node.op, node.domain);
    if (rule != nullptr)
      rule(site);
    else
      infer_quantized(site);
    bool open = false;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      ValueFacts& facts = site.outputs[i];
      keep_within_limits(facts);
      facts.fixed = fixed;
      if (const auto stated = stated_.find(node.outputs[i]); stated != stated_.end())
        add_stated(facts, stated->second);
      open = open || (i == 0 && !complete(facts));
      if (!node.outputs[i].empty()) result_.values[node.outputs[i]] = std::move(facts);
    }
    // The node is reported only if its inputs are known; else an earlier node has been reported.
    if (open && all_known)
      result_.unknown.push_back(fmt::format("{}: {}", called(node, index), why_open(node, rule)));
  }

  const OnnxModel& model_;
  std::unordered_map<std::string_view, ValueFacts> stated_;
  GraphShapes result_;
};

}  // namespace

std::optional<std::vector<std::int64_t>> whole_shape(const ValueFacts& facts) {
  if (!complete(facts)) return std::nullopt;
  std::vector<std::int64_t> shape;
  for (const Dim& dim : *facts.shape) shape.push_back(*dim);
  return shape;
}

const ValueFacts& GraphShapes::of(std::string_view name) const {
  static const ValueFacts kNothing;
  const auto found = values.find(name);
  return found == values.end() ? kNothing : found->second;
}

GraphShapes infer_shapes(const OnnxModel& model, const ShapeBindings& bindings) {
  return Inference(model, bindings).run();
}

namespace {

// Sets the window along axis number `i` of the node's `count` axes. Returns false if the attributes do not
// fit together.
bool set_axis(const OnnxNode& node, std::size_t i, std::size_t count, Dim size, Dim kernel,
              ImageWindow& window) {
  constexpr std::int64_t kMost = 1 << 20;
  const std::size_t at = i + 2 - count;  // a single spatial axis is the width
  const auto kernels = node.wholes("kernel_shape"), strides = node.wholes("strides"),
             pads = node.wholes("pads"), dilations = node.wholes("dilations");
  const auto has = [](const std::vector<std::int64_t>& list, std::size_t wanted) {
    return list.empty() || list.size() == wanted;
  };
  if (!has(kernels, count) || !has(strides, count) || !has(dilations, count) || !has(pads, 2 * count))
    return false;
  if (!kernels.empty()) kernel = kernels[i];
  if (!kernel) return false;
  window.kernel[at] = *kernel;
  if (!strides.empty()) window.stride[at] = strides[i];
  if (!dilations.empty()) window.dilation[at] = dilations[i];
  if (!pads.empty()) {
    window.before[at] = pads[i];
    window.after[at] = pads[i + count];
  }
  for (const std::int64_t value : {window.kernel[at], window.stride[at], window.dilation[at]})
    if (value < 1 || value > kMost) return false;
  for (const std::int64_t value : {window.before[at], window.after[at]})
    if (value < 0 || value > kMost) return false;
  const std::string_view automatic = node.text("auto_pad", "NOTSET");
  if (automatic == "NOTSET" || automatic.empty()) return true;
  window.before[at] = window.after[at] = 0;
  if (automatic == "VALID") return true;
  if (!size) return false;
  // Takes as many outputs as strides fit. The name says on which side the odd element of the padding goes.
  const std::int64_t outputs = (*size + window.stride[at] - 1) / window.stride[at];
  const std::int64_t needed = std::max<std::int64_t>(
      0, (outputs - 1) * window.stride[at] + window.dilation[at] * (window.kernel[at] - 1) + 1 - *size);
  window.before[at] = automatic == "SAME_LOWER" ? needed - needed / 2 : needed / 2;
  window.after[at] = needed - window.before[at];
  return true;
}

}  // namespace

std::optional<ImageWindow> window_of(const OnnxNode& node, const std::vector<Dim>& sizes,
                                     const std::vector<Dim>& kernel) {
  if (sizes.empty() || sizes.size() > 2) return std::nullopt;
  ImageWindow window;
  window.ceil = node.whole("ceil_mode", 0) != 0;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (!set_axis(node, i, sizes.size(), sizes[i], i < kernel.size() ? kernel[i] : Dim(), window))
      return std::nullopt;
  return window;
}

}  // namespace lehr
