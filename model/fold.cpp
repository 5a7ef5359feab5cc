#include "model/fold.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/error.h"

namespace lehr {
namespace {

std::size_t channels_of(const Workload& workload) {
  return static_cast<std::size_t>(workload.op() == Operator::kConv2d ? workload.conv2d().k
                                                                     : workload.gemm().n);
}

/// Filters, rows of a B that is stored turned: a channel's elements lie together. Else they are a column.
bool is_channel_first(const Workload& workload) {
  return workload.op() == Operator::kConv2d || workload.gemm().b.layout == Layout::kColumn;
}

/// The value that the node computes with, beside the one that comes from `made`.
std::string_view other_input(const OnnxNode& node, std::string_view made) {
  return node.input(0) == made ? node.input(1) : node.input(0);
}

void expect_size(const std::vector<double>& values, std::size_t channels, std::string_view name) {
  if (values.size() != channels)
    throw_user("'{}' has {} elements for {} channels", name, values.size(), channels);
}

ScaleShift normalization_of(const Constants& constants, const OnnxNode& node, std::size_t channels) {
  std::vector<double> inputs[5];
  for (std::size_t i = 1; i < 5; ++i) {
    inputs[i] = constants.elements(node.input(i));
    expect_size(inputs[i], channels, node.input(i));
  }
  ScaleShift result = {inputs[1], inputs[2]};
  const double epsilon = node.number("epsilon", 1e-5F);
  for (std::size_t i = 0; i < channels; ++i) {
    result.scale[i] /= std::sqrt(inputs[4][i] + epsilon);
    result.shift[i] -= inputs[3][i] * result.scale[i];
  }
  return result;
}

/// What a node does to the value `made`, which is one of its inputs, by a constant: one number for all
/// channels or one for each.
ScaleShift scale_shift_of_node(const Constants& constants, const OnnxNode& node, std::string_view made,
                               std::size_t channels) {
  if (node.op == "BatchNormalization") return normalization_of(constants, node, channels);
  const std::string_view name = other_input(node, made);
  std::vector<double> values = constants.elements(name);
  if (values.size() == 1) values.assign(channels, values[0]);
  expect_size(values, channels, name);
  for (double& value : values) value = node.op == "Div" ? 1 / value : node.op == "Sub" ? -value : value;
  if (node.op == "Mul" || node.op == "Div") return {values, std::vector<double>(channels, 0)};
  return {std::vector<double>(channels, 1), values};
}

/// Works the nodes into what is done before them, one after the other.
void apply(const Constants& constants, const std::vector<std::size_t>& nodes, std::string_view made,
           ScaleShift& all) {
  for (const std::size_t at : nodes) {
    const OnnxNode& node = constants.model().nodes[at];
    const ScaleShift one = scale_shift_of_node(constants, node, made, all.scale.size());
    for (std::size_t i = 0; i < all.scale.size(); ++i) {
      all.scale[i] *= one.scale[i];
      all.shift[i] = all.shift[i] * one.scale[i] + one.shift[i];
    }
    made = node.outputs[0];
  }
}

/// Of each channel, of what the filter alone gives.
ScaleShift linear_of(const Constants& constants, const Workload& workload, const ModelPlace& place) {
  const std::size_t channels = channels_of(workload);
  const OnnxNode& main = constants.model().nodes[place.nodes[0]];
  ScaleShift linear = {std::vector<double>(channels, 1), std::vector<double>(channels, 0)};
  if (!main.input(2).empty()) {
    linear.shift = constants.elements(main.input(2));
    expect_size(linear.shift, channels, main.input(2));
  }
  apply(constants, place.linear, main.outputs[0], linear);
  return linear;
}

std::vector<float> scaled_filter(const std::vector<double>& filter, const Workload& workload,
                                 const std::vector<double>& scale) {
  const std::size_t channels = scale.size(), each = filter.size() / channels;
  const bool first = is_channel_first(workload);
  std::vector<double> result = filter;
  for (std::size_t i = 0; i < result.size(); ++i) result[i] *= scale[first ? i / each : i % channels];
  return rounded(result);
}

}  // namespace

std::vector<float> rounded(const std::vector<double>& values) {
  std::vector<float> result;
  for (const double value : values) result.push_back(static_cast<float>(value));
  return result;
}

ScaleShift scale_shift_of(const Constants& constants, const Workload& workload, const ModelPlace& place) {
  const std::size_t channels = channels_of(workload);
  ScaleShift result = {std::vector<double>(channels, 1), std::vector<double>(channels, 0)};
  // The first of them reads what the node before it in the place makes.
  const auto first = std::ranges::find(place.nodes, place.scaling.front());
  apply(constants, place.scaling, constants.model().nodes[*std::prev(first)].outputs[0], result);
  return result;
}

std::optional<Folded> fold(const Constants& constants, const Workload& workload, const ModelPlace& place) {
  const bool has_bias = place.inputs.size() > 2 && !workload.epilogue.steps.empty() &&
                        workload.epilogue.steps[0].op == EpilogueOp::kBias;
  if (!place.inputs[1].empty() && !(has_bias && place.inputs[2].empty())) return std::nullopt;
  const ScaleShift linear = linear_of(constants, workload, place);
  Folded folded;
  if (place.inputs[1].empty()) {
    const std::string_view name = constants.model().nodes[place.nodes[0]].input(1);
    const std::vector<double> filter = constants.elements(name);
    if (filter.empty() || filter.size() % linear.scale.size() != 0)
      throw_user("'{}' has {} elements for {} channels", name, filter.size(), linear.scale.size());
    folded.filter = scaled_filter(filter, workload, linear.scale);
  }
  if (has_bias) folded.bias = rounded(linear.shift);
  return folded;
}

}  // namespace lehr
