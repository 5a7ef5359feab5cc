#include "apply/value_forms.h"

#include <algorithm>

namespace lehr {
namespace {

/// Rate and bytes per element of a Cast between f32 and bf16 (4 bytes and 2 bytes). Measured with onnxruntime
/// 1.32 on one thread of a Zen 3.
constexpr double kCastGbytesPerS = 16;
constexpr double kCastBytes = 6;
/// Time of a Transpose of an image of any type: kNodeUs for the node, even if it moves nothing, and
/// kTransposeUsPerElement per element. Measured with onnxruntime 1.32 on one thread of a Zen 4.
constexpr double kNodeUs = 1, kTransposeUsPerElement = 1e-4;

}  // namespace

std::vector<Conversion> conversions(const ValueForm& value) {
  const auto wants = [&](Form form) { return form != value.made && value.is_read(form); };
  const Form turned = value.made ^ kLastForm, cast = value.made ^ kNarrowForm, both = turned ^ kNarrowForm;
  const bool narrow = (value.made & kNarrowForm) != 0;
  std::vector<Conversion> steps;
  if (wants(turned) || (wants(both) && !narrow)) steps.push_back({value.made, turned});
  if (wants(cast) || (wants(both) && narrow)) steps.push_back({value.made, cast});
  if (wants(both)) steps.push_back({narrow ? cast : turned, both});
  return steps;
}

FormGraph::FormGraph(const OnnxModel& model, const GraphShapes& shapes)
    : model_(model), shapes_(shapes), constants_(model, shapes) {
  for (const OnnxNode& node : model.nodes) add(node);
  for (const OnnxValueInfo& output : model.outputs) number(output.name);
}

std::size_t FormGraph::number(std::string_view name) {
  const auto [found, is_new] = numbers_.try_emplace(name, names_.size());
  if (!is_new) return found->second;
  double elements = 1;
  const auto shape = whole_shape(shapes_.of(name));
  if (shape)
    for (const std::int64_t size : *shape) elements *= static_cast<double>(size);
  names_.push_back(name);
  elements_.push_back(shape ? elements : 0);
  alike_.push_back(lies_alike(shapes_, name));
  return found->second;
}

void FormGraph::add(const OnnxNode& node) {
  Node added;
  for (const std::string_view input : node.inputs) added.inputs.push_back(number(input));
  for (const std::string_view output : node.outputs) added.outputs.push_back(number(output));
  for (const std::string_view value : node.captured) added.captured.push_back(number(value));
  added.narrow = narrow_node(node, shapes_);
  const auto last = last_node(node, shapes_);
  added.may_be_last = last.has_value();
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    added.carried.push_back(
        (added.narrow != NarrowNode::kNone && is_narrow_input(node, i) ? kNarrowForm : kPlainForm) |
        (last && last->images[i] ? kLastForm : kPlainForm));
  nodes_.push_back(std::move(added));
}

FormedMatch FormGraph::match(const Replacement& replacement) const {
  const Match& match = *replacement.match;
  FormedMatch formed = {match.nodes, {}, {}, made_form(replacement, shapes_)};
  for (const std::string_view output : outputs_of(match)) formed.outputs.push_back(value(output));
  const std::vector<TensorSpec> tensors = inputs_of(replacement.workload);
  for (std::size_t i = 0; i < match.inputs.size(); ++i) {
    const std::string_view input = match.inputs[i];
    const bool narrow = is_narrowed(tensors.at(i), shapes_, input);
    if (input.empty() || (narrow && is_rounded_once(constants_, input))) continue;
    const bool last = has_channels_last(replacement.workload) && is_image(replacement.workload, i);
    // The filter needs no conversion, because it is a constant that is written in the new layout.
    if (i == 1 && has_channels_last(replacement.workload)) continue;
    formed.reads.push_back(
        {value(input), (narrow ? kNarrowForm : kPlainForm) | (last ? kLastForm : kPlainForm)});
  }
  return formed;
}

/// Drops nodes whose outputs only dropped nodes read: dequantized operands, constants of the filter. Goes
/// from the last node to the first.
void FormGraph::drop_unread(std::span<const FormedMatch* const> matches, std::vector<char>& gone) const {
  std::vector<std::size_t> left(names_.size(), 0);  // number of remaining readers of each value
  std::vector<char> lost(names_.size(), false);     // values that have lost a reader
  const auto each_read = [](const Node& node, auto&& visit) {
    for (const auto* values : {&node.inputs, &node.captured})
      for (const std::size_t value : *values) visit(value);
  };
  for (std::size_t at = 0; at < nodes_.size(); ++at)
    each_read(nodes_[at],
              [&](std::size_t value) { gone[at] ? void(lost[value] = true) : void(++left[value]); });
  for (const OnnxValueInfo& output : model_.outputs) ++left[value(output.name)];
  for (const FormedMatch* match : matches)
    for (const FormedMatch::Read& each : match->reads) ++left[each.value];
  for (std::size_t at = nodes_.size(); at-- > 0;) {
    const std::vector<std::size_t>& made = nodes_[at].outputs;
    const auto is_lost = [&](std::size_t output) { return bool(lost[output]); };
    const auto is_read = [&](std::size_t output) { return left[output] > 0; };
    if (gone[at] || std::ranges::none_of(made, is_lost) || std::ranges::any_of(made, is_read)) continue;
    gone[at] = true;
    each_read(nodes_[at], [&](std::size_t value) {
      --left[value];
      lost[value] = true;
    });
  }
}

/// Finds the forms in which readers want each value. Goes from the last node to the first.
void FormGraph::find_wanted(const std::vector<char>& gone, std::vector<Form>& wanted) const {
  for (std::size_t at = nodes_.size(); at-- > 0;) {
    const Node& node = nodes_[at];
    if (gone[at]) continue;
    Form all = kPlainForm;
    for (const std::size_t output : node.outputs) all |= wanted[output];
    for (std::size_t k = 0; k < node.inputs.size(); ++k) wanted[node.inputs[k]] |= all & node.carried[k];
  }
}

/// Returns the form that a node between matches reads and writes.
Form FormGraph::form_of(const Node& node, const std::vector<Form>& wanted,
                        const std::vector<Form>& made) const {
  Form all = kPlainForm, form = kPlainForm;
  for (const std::size_t output : node.outputs) all |= wanted[output];
  std::size_t narrow = 0, narrow_made = 0, last = 0, last_made = 0;
  for (std::size_t k = 0; k < node.inputs.size(); ++k) {
    const std::size_t input = node.inputs[k];
    if (node.carried[k] & kNarrowForm) {
      ++narrow;
      narrow_made += (made[input] & kNarrowForm) != 0;
    }
    if ((node.carried[k] & kLastForm) && !alike_[input]) {
      ++last;
      last_made += (made[input] & kLastForm) != 0;
    }
  }
  // A node gets bf16 only if its inputs are in bf16 already. A summand in f32 is not rounded only to make a
  // sum in bf16 possible.
  const bool is_made = node.narrow == NarrowNode::kEngine ? narrow_made > 0 : narrow_made == narrow;
  if ((all & kNarrowForm) && node.narrow != NarrowNode::kNone && is_made) form |= kNarrowForm;
  if ((all & kLastForm) && node.may_be_last && last > 0 && last_made == last) form |= kLastForm;
  return form;
}

ValueForms FormGraph::forms(std::span<const FormedMatch* const> matches) const {
  ValueForms result = {std::vector<ValueForm>(names_.size()), std::vector<char>(nodes_.size(), false),
                       std::vector<Form>(nodes_.size(), kPlainForm)};
  std::vector<char>& gone = result.gone;
  std::vector<Form> wanted(names_.size(), kPlainForm), made(names_.size(), kPlainForm);
  std::vector<const FormedMatch*> ends(nodes_.size(), nullptr);
  const auto read = [&](std::size_t value, Form form) { result.values[value].read |= 1U << form; };
  for (const FormedMatch* match : matches) {
    for (const std::size_t node : match->nodes) gone[node] = true;
    ends[*std::ranges::max_element(match->nodes)] = match;
    for (const FormedMatch::Read& each : match->reads) {
      wanted[each.value] |= each.form;
      read(each.value, each.form);
    }
  }
  drop_unread(matches, gone);
  find_wanted(gone, wanted);
  for (std::size_t at = 0; at < nodes_.size(); ++at) {
    const Node& node = nodes_[at];
    for (const std::size_t value : node.captured) read(value, kPlainForm);
    if (ends[at] != nullptr)
      for (const std::size_t output : ends[at]->outputs) made[output] = ends[at]->made;
    if (gone[at]) continue;
    result.nodes[at] = form_of(node, wanted, made);
    for (const std::size_t output : node.outputs) made[output] = result.nodes[at];
    for (std::size_t k = 0; k < node.inputs.size(); ++k)
      read(node.inputs[k], result.nodes[at] & node.carried[k]);
  }
  for (const OnnxValueInfo& output : model_.outputs) read(value(output.name), kPlainForm);
  for (std::size_t i = 0; i < made.size(); ++i) result.values[i].made = made[i];
  return result;
}

double FormGraph::conversion_us(const ValueForms& forms) const {
  double us = 0;
  for (std::size_t i = 0; i < forms.values.size(); ++i)
    for (const Conversion& step : conversions(forms.values[i])) {
      const bool turns = ((step.from ^ step.to) & kLastForm) != 0;
      if (!turns)
        us += kCastBytes * elements_[i] / (kCastGbytesPerS * 1e3);
      else
        us += kNodeUs + (alike_[i] ? 0 : kTransposeUsPerElement * elements_[i]);
    }
  return us;
}

std::vector<TensorSpec> inputs_of(const Workload& workload) {
  std::vector<TensorSpec> tensors = tensors_of(workload);
  std::erase_if(tensors, [](const TensorSpec& tensor) { return tensor.is_output(); });
  return tensors;
}

DType output_type(const Workload& workload) {
  const std::vector<TensorSpec> tensors = tensors_of(workload);
  return std::ranges::find_if(tensors, &TensorSpec::is_output)->type;
}

Form made_form(const Replacement& replacement, const GraphShapes& shapes) {
  const bool narrow = output_type(replacement.workload) == DType::kBF16 &&
                      shapes.of(replacement.match->output).type == OnnxType::kF32;
  return (narrow ? kNarrowForm : kPlainForm) |
         (has_channels_last(replacement.workload) ? kLastForm : kPlainForm);
}

bool is_narrowed(const TensorSpec& tensor, const GraphShapes& shapes, std::string_view value) {
  return tensor.type == DType::kBF16 && (value.empty() || shapes.of(value).type == OnnxType::kF32);
}

bool is_rounded_once(const Constants& constants, std::string_view value) {
  return value.empty() || (constants.shapes().of(value).fixed && constants.find(value) != nullptr);
}

}  // namespace lehr
