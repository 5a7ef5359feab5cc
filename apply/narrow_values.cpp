#include "apply/narrow_values.h"

#include <algorithm>

namespace lehr {
namespace {

/// Reads f32 and writes bf16 or the other way round: onnxruntime 1.32, one thread of a Zen 3.
constexpr double kCastGbytesPerS = 16;
constexpr double kCastBytes = 6;

class Spread {
 public:
  Spread(const OnnxModel& model, const GraphShapes& shapes)
      : model_(model), shapes_(shapes), constants_(model, shapes) {}

  NarrowValues run(std::span<const Replacement> replacements) {
    for (const Replacement& each : replacements) add(each);
    want();
    make();
    read();
    return std::move(result_);
  }

 private:
  void add(const Replacement& replacement) {
    const NetworkPlace& place = *replacement.place;
    gone_.insert(place.nodes.begin(), place.nodes.end());
    if (output_type(replacement.workload) == DType::kBF16 && shapes_.of(place.output).type == OnnxType::kF32)
      narrow_ends_[*std::ranges::max_element(place.nodes)] = place.output;
    const std::vector<TensorSpec> tensors = inputs_of(replacement.workload);
    for (std::size_t i = 0; i < place.inputs.size(); ++i) {
      const std::string_view value = place.inputs[i];
      if (!is_narrowed(tensors.at(i), shapes_, value))
        read_plain_.insert(value);
      else if (!is_rounded_once(constants_, value))
        wanted_.insert(value), read_narrow_.insert(value);
    }
  }

  /// Which values bf16 is of use of, from the last node to the first.
  void want() {
    for (std::size_t i = model_.nodes.size(); i-- > 0;) {
      const OnnxNode& node = model_.nodes[i];
      if (gone_.contains(i) || narrow_node(node, shapes_) == NarrowNode::kNone) continue;
      if (std::ranges::none_of(node.outputs,
                               [&](std::string_view output) { return wanted_.contains(output); }))
        continue;
      for (std::size_t k = 0; k < node.inputs.size(); ++k)
        if (is_narrow_input(node, k)) wanted_.insert(node.inputs[k]);
    }
  }

  /// Which are made so, from the first node to the last.
  void make() {
    for (std::size_t i = 0; i < model_.nodes.size(); ++i) {
      if (const auto end = narrow_ends_.find(i); end != narrow_ends_.end()) made_.insert(end->second);
      const OnnxNode& node = model_.nodes[i];
      if (gone_.contains(i) || !becomes_narrow(node)) continue;
      result_.nodes.insert(i);
      made_.insert(node.outputs.begin(), node.outputs.end());
    }
  }

  bool becomes_narrow(const OnnxNode& node) const {
    const NarrowNode by = narrow_node(node, shapes_);
    if (by == NarrowNode::kNone ||
        std::ranges::none_of(node.outputs, [&](std::string_view output) { return wanted_.contains(output); }))
      return false;
    std::size_t made = 0, all = 0;
    for (std::size_t k = 0; k < node.inputs.size(); ++k)
      if (is_narrow_input(node, k)) ++all, made += made_.contains(node.inputs[k]);
    // A summand is not rounded for its own sake.
    return by == NarrowNode::kEngine ? made > 0 : made == all;
  }

  void read() {
    for (std::size_t i = 0; i < model_.nodes.size(); ++i) {
      const OnnxNode& node = model_.nodes[i];
      read_plain_.insert(node.captured.begin(), node.captured.end());
      if (gone_.contains(i)) continue;
      for (std::size_t k = 0; k < node.inputs.size(); ++k)
        (result_.nodes.contains(i) && is_narrow_input(node, k) ? read_narrow_ : read_plain_)
            .insert(node.inputs[k]);
    }
    for (const OnnxValueInfo& output : model_.outputs) read_plain_.insert(output.name);
    for (const auto* values : {&made_, &read_narrow_})
      for (const std::string_view value : *values)
        result_.values[value] = {made_.contains(value), read_narrow_.contains(value),
                                 read_plain_.contains(value)};
  }

  const OnnxModel& model_;
  const GraphShapes& shapes_;
  const Constants constants_;
  std::unordered_set<std::size_t> gone_;  ///< nodes that places compute
  std::unordered_map<std::size_t, std::string_view>
      narrow_ends_;  ///< outputs in bf16, by a place's last node
  std::unordered_set<std::string_view> wanted_, made_, read_narrow_, read_plain_;
  NarrowValues result_;
};

}  // namespace

std::vector<TensorSpec> inputs_of(const Workload& workload) {
  std::vector<TensorSpec> tensors = tensors_of(workload);
  std::erase_if(tensors, [](const TensorSpec& tensor) { return tensor.is_output(); });
  return tensors;
}

DType output_type(const Workload& workload) {
  const std::vector<TensorSpec> tensors = tensors_of(workload);
  return std::ranges::find_if(tensors, &TensorSpec::is_output)->type;
}

bool is_narrowed(const TensorSpec& tensor, const GraphShapes& shapes, std::string_view value) {
  return tensor.type == DType::kBF16 && (value.empty() || shapes.of(value).type == OnnxType::kF32);
}

bool is_rounded_once(const Constants& constants, std::string_view value) {
  return value.empty() || (constants.shapes().of(value).fixed && constants.find(value) != nullptr);
}

NarrowValues narrow_values(const OnnxModel& model, const GraphShapes& shapes,
                           std::span<const Replacement> replacements) {
  return Spread(model, shapes).run(replacements);
}

double cast_us(const NarrowValues& narrow, const GraphShapes& shapes) {
  double bytes = 0;
  for (const auto& [name, value] : narrow.values) {
    const auto shape = whole_shape(shapes.of(name));
    if (!value.is_cast() || !shape) continue;
    double elements = 1;
    for (const std::int64_t size : *shape) elements *= static_cast<double>(size);
    bytes += kCastBytes * elements;
  }
  return bytes / (kCastGbytesPerS * 1e3);
}

}  // namespace lehr
