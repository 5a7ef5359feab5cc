#include "apply/rounded.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "apply/fold.h"
#include "apply/graph_bytes.h"
#include "apply/value_forms.h"
#include "base/small_float.h"
#include "network/problems.h"
#include "network/protobuf.h"

namespace lehr {
namespace {

class Rounding {
 public:
  Rounding(const OnnxModel& model, const GraphShapes& shapes)
      : model_(model), shapes_(shapes), constants_(model, shapes) {}

  void add(const Replacement& replacement) {
    const Match& match = *replacement.match;
    const std::vector<TensorSpec> tensors = inputs_of(replacement.workload);
    std::unordered_set<std::string_view> rounded;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      std::string_view value = match.inputs[i];
      if (i == 1 && value.empty()) value = model_.nodes[match.nodes[0]].input(1);
      if (!value.empty() && is_narrowed(tensors[i], shapes_, value)) rounded.insert(value);
    }
    for (const std::size_t node : match.nodes)
      for (std::size_t k = 0; k < model_.nodes[node].inputs.size(); ++k)
        if (rounded.contains(model_.nodes[node].inputs[k])) rounded_inputs_[node].insert(k);
    if (match.inputs.size() > 2 && match.inputs[2].empty() && is_narrowed(tensors[2], shapes_, ""))
      add_bias(replacement);
  }

  std::string bytes() {
    std::string bytes;
    for (Wire wire(*model_.bytes); wire.next();)
      bytes += wire.field() == 7 ? bytes_field(7, graph(wire.bytes())) : std::string(wire.record());
    return bytes;
  }

 private:
  /// Adds the rounding error of the folded bias after the last node that is folded into the bias.
  void add_bias(const Replacement& replacement) {
    const Match& match = *replacement.match;
    const auto folded = fold(constants_, replacement.workload, match);
    if (!folded || folded->bias.empty()) return;
    const std::size_t last = match.linear.empty() ? match.nodes[0] : match.linear.back();
    std::vector<std::int64_t> dims = {static_cast<std::int64_t>(folded->bias.size())};
    const auto& shape = shapes_.of(match.output).shape;
    dims.resize(channel_axis(replacement.workload, shape ? shape->size() : 2), 1);
    std::vector<float> off;
    for (const float value : folded->bias) off.push_back(rounded_to(DType::kBF16, value) - value);
    off_[last] = unnamed_tensor(f32_constant(dims, off));
  }

  std::string graph(std::string_view message) {
    std::string bytes;
    std::size_t node = 0;
    for (Wire wire(message); wire.next();) {
      if (wire.field() != 1) {
        bytes += wire.record();
        continue;
      }
      bytes += node_bytes(node, wire.bytes());
      ++node;
    }
    for (const auto& [at, tensor] : off_) bytes += bytes_field(5, tensor + bytes_field(8, name_of_off(at)));
    return bytes;
  }

  std::string node_bytes(std::size_t at, std::string_view message) {
    const auto rounded = rounded_inputs_.find(at);
    const auto off = off_.find(at);
    std::string before, node;
    std::size_t input = 0, output = 0;
    for (Wire wire(message); wire.next();) {
      if (wire.field() == 1 && rounded != rounded_inputs_.end() && rounded->second.contains(input++)) {
        node += bytes_field(1, rounded_value(wire.bytes(), before));
      } else if (wire.field() == 2 && off != off_.end() && output++ == 0) {
        node += bytes_field(2, name_of_off(at) + ".to");
      } else {
        node += wire.record();
      }
    }
    std::string bytes = before + bytes_field(1, node);
    if (off != off_.end())
      bytes += node_record("Add", {name_of_off(at) + ".to", name_of_off(at)}, model_.nodes[at].outputs[0]);
    return bytes;
  }

  /// Returns the name of the rounded value. Adds the casts that make this value to `casts`, unless an earlier
  /// call has added them.
  std::string rounded_value(std::string_view value, std::string& casts) {
    const auto [name, is_new] = names_.try_emplace(value, fmt::format("{}.rounded", value));
    if (!is_new) return name->second;
    const std::string narrow = name->second + ".bf16";
    casts += cast_record(value, narrow, OnnxType::kBf16) + cast_record(narrow, name->second, OnnxType::kF32);
    return name->second;
  }

  std::string name_of_off(std::size_t node) const {
    return fmt::format("{}.rounding", model_.nodes[node].outputs[0]);
  }

  const OnnxModel& model_;
  const GraphShapes& shapes_;
  const Constants constants_;
  /// The inputs to round, by node.
  std::unordered_map<std::size_t, std::unordered_set<std::size_t>> rounded_inputs_;
  /// Rounding errors of biases: tensors without names, by the node after which they are added.
  std::map<std::size_t, std::string> off_;
  std::unordered_map<std::string_view, std::string> names_;
};

}  // namespace

std::string rounded_network(const OnnxModel& model, const GraphShapes& shapes,
                            std::span<const Replacement> replacements) {
  Rounding rounding(model, shapes);
  for (const Replacement& each : replacements) rounding.add(each);
  return rounding.bytes();
}

}  // namespace lehr
