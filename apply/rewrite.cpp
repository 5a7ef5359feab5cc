#include "apply/rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>

#include "apply/fold.h"
#include "apply/graph_bytes.h"
#include "apply/value_forms.h"
#include "base/error.h"
#include "network/constants.h"
#include "network/protobuf.h"

namespace lehr {
namespace {

using Sizes = std::vector<std::int64_t>;

/// An input of a fused node.
struct FusedInput {
  std::string_view name;  ///< the name that the node reads
  /// The graph's value that the input stands for; "": the input is made from several constants.
  std::string_view value;
  Sizes shape;        ///< shape of `value`
  bool last = false;  ///< whether the node reads `value` with channels last
};

/// The node that replaces a match.
struct FusedNode {
  std::string node;  ///< the NodeProto, as a field of a graph
  std::vector<FusedInput> inputs;
};

class Rewriter {
 public:
  Rewriter(const OnnxModel& model, const GraphShapes& shapes, const NodeForm& form)
      : model_(model), shapes_(shapes), form_(form), constants_(model, shapes) {
    for (const OnnxNode& node : model.nodes)
      for (const std::string_view output : node.outputs) {
        names_.insert(output);
        makers_[output] = &node;
      }
    for (const OnnxTensor& constant : model.constants) {
      names_.insert(constant.name);
      (constant.overridable ? overridable_ : fixed_).insert(constant.name);
    }
    for (const OnnxValueInfo& input : model.inputs) names_.insert(input.name);
  }

  /// Explains in a clause why a match cannot become one node; "" if it can. Constants that this check has
  /// made are discarded.
  std::string why_kept(const Replacement& replacement) {
    const FusedOrReason made = written(replacement);
    made_.clear();
    made_in_order_.clear();
    const auto* const reason = std::get_if<std::string>(&made);
    return reason == nullptr ? "" : *reason;
  }

  void replace(const Replacement& replacement) {
    const Match& match = *replacement.match;
    FusedOrReason made = written(replacement);
    if (auto* const reason = std::get_if<std::string>(&made)) {
      result_.kept.push_back({&match, std::move(*reason)});
      return;
    }
    FusedNode& fused = std::get<FusedNode>(made);
    if (!form_.beside.empty()) {
      beside_ += fused.node;
      ++result_.replaced;
      return;
    }
    if (!match.by_rows) result_.weights[&match] = fused.inputs[1].name;
    fused_[*std::ranges::max_element(match.nodes)] = std::move(fused);
    for (const std::size_t node : match.nodes) gone_.insert(node);
    replaced_.push_back(replacement);
    ++result_.replaced;
  }

  RewrittenModel finish() {
    const FormGraph graph_forms(model_, shapes_);
    find_forms(graph_forms);
    find_read();
    add_conversions(graph_forms);
    std::string bytes;
    for (Wire wire(*model_.bytes); wire.next();) {
      if (wire.field() == 7)
        bytes += bytes_field(7, graph(wire.bytes()));
      else
        bytes += wire.record();
    }
    if (result_.replaced > 0) bytes += bytes_field(8, bytes_field(1, kFusedDomain) + number_field(2, 1));
    if (is_microsoft_ && !model_.opsets.contains(kMicrosoftDomain))
      bytes += bytes_field(8, bytes_field(1, kMicrosoftDomain) + number_field(2, 1));
    result_.bytes = std::move(bytes);
    return std::move(result_);
  }

 private:
  using FusedOrReason = std::variant<FusedNode, std::string>;

  FusedOrReason written(const Replacement& replacement) {
    try {
      return fused_node(replacement);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kUser) throw;
      return error.what();
    }
  }

  Sizes shape(std::string_view name) const {
    const auto sizes = whole_shape(shapes_.of(name));
    if (!sizes) throw_user("the shape of '{}' is not known", name);
    return *sizes;
  }

  FusedInput known_input(std::string_view value, DType type, bool last) {
    const OnnxType known = shapes_.of(value).type;
    if (known != onnx_type_of(type) && known != OnnxType::kUnknown)
      throw_user("'{}' is of {}, and its workload of {}", value, name_of(known), name_of(type));
    return {form_name(value, last ? kLastForm : kPlainForm), value, shape(value), last};
  }

  /// Throws unless the value is constant when the kernel runs, since the kernel packs only constants. Values
  /// that depend on no input count as constant, because an engine computes them in advance. Dequantized
  /// values are an exception.
  void expect_constant(std::string_view value) const {
    std::vector<std::string_view> open = {value};
    std::unordered_set<std::string_view> seen;
    while (!open.empty()) {
      const auto maker = makers_.find(open.back());
      open.pop_back();
      if (maker == makers_.end() || !seen.insert(maker->first).second) continue;
      const OnnxNode& node = *maker->second;
      if (node.op == "DequantizeLinear" || node.op == "QuantizeLinear" || !node.domain.empty())
        throw_user("'{}' is made by {}, and kernels take constants there", value, node.op);
      open.insert(open.end(), node.inputs.begin(), node.inputs.end());
    }
  }

  /// Returns an input in bf16. A constant is rounded here. Any other value is rounded by a conversion after
  /// the node that makes it.
  FusedInput narrowed_input(std::string_view output, const TensorSpec& tensor, std::string_view value,
                            bool last) {
    if (!is_rounded_once(constants_, value))
      return {form_name(value, kNarrowForm | (last ? kLastForm : kPlainForm)), value, shape(value), last};
    const std::vector<double> elements = constants_.elements(value);
    MatchConstant rounded = bf16_constant(shape(value), {elements.begin(), elements.end()});
    if (last) rounded = transposed(rounded, to_channels_last(rounded.shape.size()));
    return made_input(output, tensor.name, rounded);
  }

  /// Returns the filter of a match in the graph's layout and the workload's type.
  MatchConstant filter_of(const Replacement& replacement, const std::optional<Folded>& folded) const {
    const Match& match = *replacement.match;
    if (const auto made = match.made.find(1); made != match.made.end()) return made->second;
    const std::string_view name = model_.nodes[match.nodes[0]].input(1), value = match.inputs[1];
    const DType type = inputs_of(replacement.workload)[1].type;
    if (folded && !folded->filter.empty())
      return type == DType::kBF16 ? bf16_constant(shape(name), folded->filter)
                                  : f32_constant(shape(name), folded->filter);
    const OnnxTensor* const tensor = shapes_.of(value).fixed ? constants_.find(value) : nullptr;
    if (tensor == nullptr) throw_user("'{}' is no constant of the file, which its layout needs", value);
    if (is_integer(type)) {
      const std::vector<std::int64_t> wholes = whole_elements(model_, *tensor);
      return {type, shape(value), {wholes.begin(), wholes.end()}};
    }
    const std::vector<double> elements = constants_.elements(value);
    const std::vector<float> values(elements.begin(), elements.end());
    return type == DType::kBF16 ? bf16_constant(shape(value), values) : f32_constant(shape(value), values);
  }

  /// Returns the name that a value has in a form.
  std::string_view form_name(std::string_view value, Form form) {
    if (value.empty() || form == kPlainForm) return value;
    const auto [name, is_new] = form_names_.try_emplace(
        {value, form},
        fmt::format("{}{}{}", value, (form & kLastForm) ? ".nhwc" : "", (form & kNarrowForm) ? ".bf16" : ""));
    while (is_new && names_.contains(name->second)) name->second += "_";
    if (is_new) names_.insert(name->second);
    return name->second;
  }

  /// Returns an input that reads this constant. Adds the constant to the graph unless an earlier node already
  /// reads an equal constant.
  FusedInput made_input(std::string_view output, std::string_view what, const MatchConstant& constant) {
    const auto [made, is_new] = made_.try_emplace(unnamed_tensor(constant));
    if (is_new) {
      made->second = fmt::format("{}.{}", output, what);
      while (names_.contains(made->second)) made->second += "_";
      names_.insert(made->second);
      made_in_order_.push_back(&*made);
    }
    return {made->second, {}, constant.shape};
  }

  /// Returns an input that reads a constant with these values, rounded to the tensor's type.
  FusedInput made_input(std::string_view output, std::string_view what, const Sizes& shape,
                        const std::vector<float>& values, const TensorSpec& tensor) {
    return made_input(
        output, what,
        tensor.type == DType::kBF16 ? bf16_constant(shape, values) : f32_constant(shape, values));
  }

  void add_inputs(FusedNode& fused, const Replacement& replacement, const std::optional<Folded>& folded) {
    const Match& match = *replacement.match;
    const OnnxNode& main = model_.nodes[match.nodes[0]];
    const std::vector<TensorSpec> tensors = inputs_of(replacement.workload);
    const bool is_last = has_channels_last(replacement.workload);
    for (std::size_t i = 0; i < match.inputs.size(); ++i) {
      const std::string_view value = match.inputs[i];
      const bool last = is_last && is_image(replacement.workload, i);
      if (is_last && i == 1) {
        const MatchConstant filter = filter_of(replacement, folded);
        fused.inputs.push_back(
            made_input(match.output, "filter", transposed(filter, to_channels_last(filter.shape.size()))));
      } else if (folded && i == 1 && !folded->filter.empty()) {
        fused.inputs.push_back(
            made_input(match.output, "filter", shape(main.input(1)), folded->filter, tensors[i]));
      } else if (folded && i == 2 && !folded->bias.empty()) {
        const Sizes channels = {static_cast<std::int64_t>(folded->bias.size())};
        fused.inputs.push_back(made_input(match.output, "bias", channels, folded->bias, tensors[i]));
      } else if (const auto made = match.made.find(i); made != match.made.end()) {
        fused.inputs.push_back(made_input(match.output, tensors.at(i).name, made->second));
      } else if (value.empty() && !match.scaling.empty()) {
        const FoldedScaling both = fold_scaling(constants_, replacement.workload, match);
        Sizes channels = {static_cast<std::int64_t>(both.scale.size())};
        // The dimensions of an image come after its channels.
        if (main.op == "Conv") channels.resize(shape(match.output).size() - 1, 1);
        fused.inputs.push_back(made_input(match.output, "scale", channels, both.scale, tensors[i]));
        fused.inputs.push_back(made_input(match.output, "shift", channels, both.shift, tensors[i]));
        ++i;
      } else if (is_narrowed(tensors.at(i), shapes_, value)) {
        fused.inputs.push_back(narrowed_input(match.output, tensors[i], value, last));
      } else {
        if (tensors.at(i).constant && i == 1) expect_constant(value);
        fused.inputs.push_back(known_input(value, tensors.at(i).type, last));
      }
    }
  }

  /// Throws unless all outputs have the same type, since the operator states only one type.
  static void expect_one_type(const Workload& workload) {
    const DType first = output_type(workload);
    for (const TensorSpec& tensor : tensors_of(workload))
      if (tensor.is_output() && tensor.type != first)
        throw_user("it makes {} and {}, and a node makes one type", name_of(first), name_of(tensor.type));
  }

  /// Returns `sizes` with 0 for each dimension whose size is different at the other end of a range.
  Sizes sizes_of(std::string_view value, Sizes sizes) const {
    if (form_.other_end == nullptr || value.empty()) return sizes;
    const auto other = whole_shape(form_.other_end->of(value));
    if (!other || other->size() != sizes.size())
      throw_user("the shape of '{}' is not known at both ends of the range", value);
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (sizes[i] != (*other)[i]) sizes[i] = 0;
    return sizes;
  }

  static Sizes in_layout(const Sizes& sizes, bool last) {
    if (!last) return sizes;
    Sizes turned;
    for (const std::int64_t at : to_channels_last(sizes.size()))
      turned.push_back(sizes[static_cast<std::size_t>(at)]);
    return turned;
  }

  /// Appends the rank and the dimensions of a value to `all`.
  static void append(Sizes& all, const Sizes& sizes) {
    all.push_back(std::ssize(sizes));
    all.insert(all.end(), sizes.begin(), sizes.end());
  }
  Sizes input_sizes(const FusedNode& fused) const {
    Sizes all;
    for (const FusedInput& input : fused.inputs)
      append(all, in_layout(sizes_of(input.value, input.shape), input.last));
    return all;
  }

  /// Returns the sizes of an output. The size 0 means that the output's dimension has the size of the same
  /// dimension of the first input.
  Sizes output_sizes(const FusedNode& fused, std::string_view output) const {
    Sizes sizes = sizes_of(output, shape(output));
    const FusedInput& first = fused.inputs[0];
    const Sizes from = sizes_of(first.value, first.shape);
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (sizes[i] == 0 && (i >= from.size() || from[i] != 0 || first.shape[i] != shape(output)[i]))
        throw_user("'{}' varies otherwise than what it is made of", output);
    return sizes;
  }

  FusedNode fused_node(const Replacement& replacement) {
    const Match& match = *replacement.match;
    expect_one_type(replacement.workload);
    FusedNode fused;
    add_inputs(fused, replacement, fold(constants_, replacement.workload, match));
    std::string node;
    for (const FusedInput& input : fused.inputs) node += bytes_field(1, input.name);
    const Form form = made_form(replacement, shapes_);
    Sizes made;
    for (const std::string_view output : outputs_of(match)) {
      node += bytes_field(2, fmt::format("{}{}", form_name(output, form), form_.beside));
      append(made, in_layout(output_sizes(fused, output), (form & kLastForm) != 0));
    }
    node += bytes_field(3, match.output) + bytes_field(4, fused_operator(output_type(replacement.workload))) +
            bytes_field(7, kFusedDomain);
    node += int_attribute("version", kNodeVersion) + text_attribute("library", form_.library) +
            text_attribute("workload", to_text(replacement.workload)) +
            int_attribute("threads", replacement.threads) + ints_attribute("shapes", input_sizes(fused)) +
            ints_attribute("output_shapes", made);
    fused.node = bytes_field(1, node);
    return fused;
  }

  void find_forms(const FormGraph& graph) {
    std::vector<FormedMatch> matches;
    for (const Replacement& each : replaced_) matches.push_back(graph.match(each));
    std::vector<const FormedMatch*> all;
    for (const FormedMatch& each : matches) all.push_back(&each);
    forms_ = graph.forms(all);
    for (std::size_t at = 0; at < forms_.gone.size(); ++at)
      if (forms_.gone[at]) gone_.insert(at);
    for (std::size_t i = 0; i < forms_.values.size(); ++i)
      for (const Conversion& step : conversions(forms_.values[i]))
        if (step.from == kPlainForm) read_.insert(graph.name(i));
  }

  /// Returns the form in which a node between matches reads an input.
  Form read_form(std::size_t at, std::size_t input) const {
    const OnnxNode& node = model_.nodes[at];
    Form form = forms_.nodes[at];
    if (!is_narrow_input(node, input)) form &= ~kNarrowForm;
    if ((form & kLastForm) && !last_node(node, shapes_)->images[input]) form &= ~kLastForm;
    return form;
  }

  /// Collects the values that are still read.
  void find_read() {
    for (std::size_t i = 0; i < model_.nodes.size(); ++i) {
      const OnnxNode& node = model_.nodes[i];
      for (std::size_t k = 0; k < node.inputs.size(); ++k)
        (gone_.contains(i) || read_form(i, k) != kPlainForm ? gone_read_ : read_).insert(node.inputs[k]);
      if (gone_.contains(i) || forms_.nodes[i] != kPlainForm)
        gone_made_.insert(node.outputs.begin(), node.outputs.end());
      read_.insert(node.captured.begin(), node.captured.end());
    }
    for (const auto& [at, fused] : fused_)
      for (const FusedInput& input : fused.inputs) read_.insert(input.name);
    for (const OnnxValueInfo& output : model_.outputs) read_.insert(output.name);
  }

  /// Adds the conversions of all values. Conversions follow the node that makes their value. If no node makes
  /// the value, they come before all nodes.
  void add_conversions(const FormGraph& graph) {
    std::unordered_map<std::string_view, std::size_t> made_at;
    for (std::size_t i = 0; i < model_.nodes.size(); ++i)
      for (const std::string_view output : model_.nodes[i].outputs) made_at[output] = i;
    for (const Replacement& each : replaced_)
      for (const std::string_view output : outputs_of(*each.match))
        made_at[output] = *std::ranges::max_element(each.match->nodes);
    for (std::size_t i = 0; i < forms_.values.size(); ++i) {
      const std::string_view value = graph.name(i);
      const auto made = made_at.find(value);
      for (const Conversion& step : conversions(forms_.values[i]))
        (made == made_at.end() ? converted_first_ : converted_after_[made->second]) +=
            conversion_record(value, step);
    }
  }

  std::string conversion_record(std::string_view value, const Conversion& step) {
    const std::string_view from = form_name(value, step.from), to = form_name(value, step.to);
    if (((step.from ^ step.to) & kLastForm) == 0)
      return cast_record(from, to, (step.to & kNarrowForm) ? OnnxType::kBf16 : OnnxType::kF32);
    const std::size_t rank = shape(value).size();
    return transpose_record(from, to,
                            (step.to & kLastForm) ? to_channels_last(rank) : to_channels_first(rank));
  }

  /// Returns the bytes of a node between matches, written for its form.
  std::string formed_node_bytes(std::size_t at) {
    const OnnxNode& node = model_.nodes[at];
    const Form form = forms_.nodes[at];
    const auto last = (form & kLastForm) ? last_node(node, shapes_) : std::nullopt;
    std::string_view op = last ? last->op : node.op, domain = last ? last->domain : node.domain;
    if ((form & kNarrowForm) && narrow_node(node, shapes_) == NarrowNode::kPlugin) domain = kFusedDomain;
    is_microsoft_ = is_microsoft_ || domain == kMicrosoftDomain;
    Wire record(node.record);
    record.next();
    std::string bytes;
    std::size_t input = 0;
    for (Wire wire(record.bytes()); wire.next();) {
      if (wire.field() == 1)
        bytes += bytes_field(1, form_name(wire.bytes(), read_form(at, input++)));
      else if (wire.field() == 2)
        bytes += bytes_field(2, form_name(wire.bytes(), form));
      else if (wire.field() == 5 && last && is_layout_attribute(wire.bytes()))
        continue;
      else if (wire.field() != 4 && wire.field() != 7)
        bytes += wire.record();
    }
    bytes += bytes_field(4, op);
    if (!domain.empty()) bytes += bytes_field(7, domain);
    if (last && last->axis) bytes += int_attribute("axis", *last->axis);
    if (last && last->states_layout) bytes += int_attribute("channels_last", 1);
    return bytes_field(1, bytes);
  }

  /// Whether an attribute states where the channels are.
  static bool is_layout_attribute(std::string_view attribute) {
    for (Wire wire(attribute); wire.next();)
      if (wire.field() == 1)
        return wire.bytes() == "axis" || wire.bytes() == "channels_last" || wire.bytes() == "storage_order";
    return false;
  }

  std::string graph(std::string_view message) {
    std::string bytes;
    std::size_t node = 0, constant = 0, input = 0, between = 0;
    for (Wire wire(message); wire.next();) {
      switch (wire.field()) {
        case 1:
          if (node++ == 0) bytes += all_nodes(message) + beside_;
          break;
        case 5:
        case 15:
          bytes += constant_bytes(model_.constants[constant++], wire.record());
          break;
        case 11:
          bytes += input_bytes(model_.inputs[input++], wire.record());
          break;
        case 13:
          if (!vanished(model_.between[between++].name)) bytes += wire.record();
          break;
        default:
          bytes += wire.record();
      }
    }
    // A match that was not replaced may have left a constant that nobody reads.
    for (const auto* made : made_in_order_)
      if (read_.contains(made->second)) bytes += bytes_field(5, made->first + bytes_field(8, made->second));
    return bytes;
  }

  std::string all_nodes(std::string_view graph) {
    std::vector<std::string> nodes;
    for (Wire wire(graph); wire.next();)
      if (wire.field() == 1)
        nodes.push_back(node_bytes(nodes.size(), wire.record()) + converted_after_[nodes.size()]);
    std::string bytes = converted_first_;
    for (const std::size_t at : ordered()) bytes += nodes[at];
    return bytes;
  }

  /// Returns the nodes in the file's order, which is changed where necessary, so that each node follows the
  /// nodes that make its inputs. A fused node takes the position of the last node of its match. The order
  /// must change if a reader of the match's other outputs stands before this position in the file.
  std::vector<std::size_t> ordered() const {
    // For each node of a replaced match, the position of the match's last node. For any other node, its own
    // position.
    std::vector<std::size_t> end(model_.nodes.size());
    std::iota(end.begin(), end.end(), 0);
    for (const Replacement& each : replaced_)
      for (const std::size_t node : each.match->nodes)
        end[node] = *std::ranges::max_element(each.match->nodes);
    std::unordered_map<std::string_view, std::size_t> made_at;
    for (std::size_t i = 0; i < model_.nodes.size(); ++i)
      for (const std::string_view output : model_.nodes[i].outputs) made_at[output] = end[i];
    std::vector<std::set<std::size_t>> readers(end.size());
    // For each node, the number of nodes that make its inputs and are not in `order` yet.
    std::vector<std::size_t> open(end.size(), 0);
    for (std::size_t i = 0; i < model_.nodes.size(); ++i)
      for (const auto* values : {&model_.nodes[i].inputs, &model_.nodes[i].captured})
        for (const std::string_view value : *values)
          if (const auto made = made_at.find(value); made != made_at.end() && made->second != end[i])
            open[end[i]] += readers[made->second].insert(end[i]).second;
    std::set<std::size_t> next;
    for (std::size_t i = 0; i < end.size(); ++i)
      if (open[i] == 0) next.insert(i);
    std::vector<std::size_t> order;
    while (!next.empty()) {
      order.push_back(*next.begin());
      next.erase(next.begin());
      for (const std::size_t reader : readers[order.back()])
        if (--open[reader] == 0) next.insert(reader);
    }
    return order;
  }

  std::string node_bytes(std::size_t at, std::string_view record) {
    if (const auto found = fused_.find(at); found != fused_.end()) return found->second.node;
    if (gone_.contains(at)) return {};
    for (const OnnxTensor& tensor : model_.nodes[at].external) add_external(model_, tensor, result_.external);
    return forms_.nodes[at] == kPlainForm ? std::string(record) : formed_node_bytes(at);
  }

  std::string constant_bytes(const OnnxTensor& constant, std::string_view record) {
    if (is_unread_now(constant.name)) return {};
    if (constant.external) add_external(model_, constant, result_.external);
    return std::string(record);
  }

  /// Returns the record of an input, or "" if the input is a constant that no node reads any more. Models of
  /// IR version 3 list their constants among the inputs. In models of newer versions, an input with a
  /// constant is a default that callers may override, so the input stays.
  std::string input_bytes(const OnnxValueInfo& input, std::string_view record) const {
    return fixed_.contains(input.name) && is_unread_now(input.name) ? std::string() : std::string(record);
  }

  /// Whether only removed nodes have read the value.
  bool is_unread_now(std::string_view name) const {
    return !read_.contains(name) && gone_read_.contains(name) && !overridable_.contains(name);
  }
  bool vanished(std::string_view value) const { return !read_.contains(value) && gone_made_.contains(value); }

  const OnnxModel& model_;
  const GraphShapes& shapes_;
  const NodeForm& form_;
  const Constants constants_;
  RewrittenModel result_;
  std::unordered_set<std::string_view> names_;
  std::unordered_map<std::string_view, const OnnxNode*> makers_;  ///< the node that makes each value
  std::map<std::string, std::string> made_;  ///< names of new constants, by their content
  std::vector<const std::pair<const std::string, std::string>*> made_in_order_;
  std::vector<Replacement> replaced_;
  ValueForms forms_;
  std::string beside_;         ///< new nodes in addition to the original's nodes (NodeForm::beside)
  bool is_microsoft_ = false;  ///< whether nodes of kMicrosoftDomain are made
  std::map<std::pair<std::string_view, Form>, std::string> form_names_;  ///< results of form_name()
  std::string converted_first_;                                          ///< conversions before all nodes
  /// Conversions, by the node that they follow.
  std::unordered_map<std::size_t, std::string> converted_after_;
  std::unordered_map<std::size_t, FusedNode> fused_;  ///< fused nodes, by the node whose position they take
  std::set<std::size_t> gone_;                        ///< nodes that fused nodes replace
  std::unordered_set<std::string_view> fixed_, overridable_;  ///< constants of the file
  std::unordered_set<std::string_view> read_;                 ///< values that the remaining nodes read
  /// Values that removed nodes have read, and values that removed nodes have made.
  std::unordered_set<std::string_view> gone_read_, gone_made_;
};

}  // namespace

namespace {

constexpr std::pair<DType, std::string_view> kFusedOperators[] = {
    {DType::kF32, "Fused"}, {DType::kBF16, "FusedBf16"}, {DType::kU8, "FusedU8"}, {DType::kS8, "FusedS8"}};

bool is_made(DType output) {
  return std::ranges::any_of(kFusedOperators, [&](const auto& each) { return each.first == output; });
}

}  // namespace

std::string_view fused_operator(DType output) {
  for (const auto& [type, op] : kFusedOperators)
    if (type == output) return op;
  throw_user("no node makes {}", name_of(output));
}

bool is_fused_operator(std::string_view op) {
  return std::ranges::any_of(kFusedOperators, [&](const auto& each) { return each.second == op; });
}

NodeForm node_form(const Network& network, std::string library) {
  return {std::move(library), network.smaller.empty() ? nullptr : &network.smaller.front()};
}

void leave_out_unwritten(const Network& network, Matches& matches) {
  const NodeForm form = node_form(network);
  Rewriter rewriter(network.model, network.shapes, form);
  for (MatchedWorkload& matched : matches.workloads) {
    if (!is_made(output_type(matched.workload))) continue;
    std::erase_if(matched.matches, [&](const Match& match) {
      const std::string reason = rewriter.why_kept({&match, matched.workload});
      if (!reason.empty()) matches.gaps.push_back({reason, flops_of(matched.workload), match.nodes[0]});
      return !reason.empty();
    });
  }
  std::erase_if(matches.workloads, [](const MatchedWorkload& matched) { return matched.matches.empty(); });
}

RewrittenModel rewrite(const OnnxModel& model, const GraphShapes& shapes,
                       std::span<const Replacement> replacements, const NodeForm& form) {
  if (model.opsets.contains(kFusedDomain))
    throw_user("the model has operators of {} already: it has been rewritten before", kFusedDomain);
  Rewriter rewriter(model, shapes, form);
  for (const Replacement& each : replacements) rewriter.replace(each);
  return rewriter.finish();
}

}  // namespace lehr
