#include "network/fold.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
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

/// Of each channel.
struct ScaleShift {
  std::vector<double> scale, shift;
  std::vector<double> peak = {};  ///< the largest that the shift was on the way, in what the last node makes
};

// Numbers on the way beyond these may be too large or too small for f32 between two nodes, as products with
// what is computed: sums and saturated values would end elsewhere.
constexpr double kLargest = 0x1p64, kSmallest = 0x1p-64;
// Where more of a shift than this is taken back, the nodes round by it: x + 2^23 - 2^23 is x rounded.
constexpr double kMostTakenBack = 1024;

bool is_usual(double factor) {
  return factor == 0 || (std::abs(factor) >= kSmallest && std::abs(factor) <= kLargest);
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

/// Works a node into what is done before it. Throws where f32 does not hold what it does.
void work_in(const ScaleShift& one, const OnnxNode& node, ScaleShift& all) {
  all.peak.resize(all.scale.size());
  for (std::size_t i = 0; i < all.scale.size(); ++i) {
    all.scale[i] *= one.scale[i];
    const double before = all.shift[i] * one.scale[i];
    all.shift[i] = before + one.shift[i];
    if (!is_usual(one.scale[i]) || !is_usual(all.scale[i]) || !(std::abs(all.shift[i]) <= kLargest))
      throw_user("what '{}' is made with is too large, too small or no number", node.outputs[0]);
    all.peak[i] = std::max({all.peak[i] * std::abs(one.scale[i]), std::abs(before), std::abs(one.shift[i])});
  }
}

/// The same for several, one after the other.
void apply(const Constants& constants, const std::vector<std::size_t>& nodes, std::string_view made,
           ScaleShift& all) {
  for (const std::size_t at : nodes) {
    const OnnxNode& node = constants.model().nodes[at];
    work_in(scale_shift_of_node(constants, node, made, all.scale.size()), node, all);
    made = node.outputs[0];
  }
}

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
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

std::vector<float> rounded(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

/// A channel's largest element is far from the smallest number, unless it is 0: what is lost of others is
/// nothing beside it.
std::vector<float> scaled_filter(const std::vector<double>& filter, const Workload& workload,
                                 const std::vector<double>& scale, std::string_view output) {
  const std::size_t channels = scale.size(), each = filter.size() / channels;
  const bool first = is_channel_first(workload);
  std::vector<double> result = filter, largest(channels);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::size_t channel = first ? i / each : i % channels;
    result[i] *= scale[channel];
    largest[channel] = std::max(largest[channel], std::isfinite(result[i]) ? std::abs(result[i]) : INFINITY);
  }
  for (const double one : largest)
    if (one != 0 && (one > kLargest || one < std::numeric_limits<float>::min() * (1 << 24)))
      throw_user("the filter that is made for '{}' is too large, too small or no number", output);
  return rounded(result);
}

void refuse_taken_back(const ScaleShift& all, double largest, std::string_view output) {
  if (largest_of(all.peak) > kMostTakenBack * std::max(largest, largest_of(all.shift)))
    throw_user("what makes '{}' rounds by a summand that is taken back", output);
}

/// Whether the elements are at hand: of f32, and in the model's own file.
bool is_at_hand(const Constants& constants, std::string_view value) {
  const OnnxTensor* const tensor = constants.find(value);
  return tensor != nullptr && !tensor->external && tensor->type == OnnxType::kF32;
}

bool all_finite(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
}

}  // namespace

bool is_foldable(const Constants& constants, std::string_view value) {
  try {
    return !is_at_hand(constants, value) || all_finite(constants.elements(value));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUser) throw;
    return false;
  }
}

bool is_foldable(const Constants& constants, const OnnxNode& node, std::string_view made,
                 std::size_t channels) {
  bool at_hand = true;
  for (const std::string_view input : node.inputs) {
    if (!is_foldable(constants, input)) return false;
    at_hand = at_hand && (input == made || is_at_hand(constants, input));
  }
  if (!at_hand) return true;
  try {
    ScaleShift one = {std::vector<double>(channels, 1), std::vector<double>(channels, 0)};
    work_in(scale_shift_of_node(constants, node, made, channels), node, one);
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUser) throw;
    return false;
  }
}

FoldedScaling fold_scaling(const Constants& constants, const Workload& workload, const ModelPlace& place) {
  const std::size_t channels = channels_of(workload);
  ScaleShift both = {std::vector<double>(channels, 1), std::vector<double>(channels, 0)};
  // The first of them reads what the node before it in the place makes.
  const auto first = std::ranges::find(place.nodes, place.scaling.front());
  apply(constants, place.scaling, constants.model().nodes[*std::prev(first)].outputs[0], both);
  refuse_taken_back(both, largest_of(both.scale), place.output);
  return {rounded(both.scale), rounded(both.shift)};
}

std::optional<Folded> fold(const Constants& constants, const Workload& workload, const ModelPlace& place) {
  const bool has_bias = place.inputs.size() > 2 && !workload.epilogue.steps.empty() &&
                        workload.epilogue.steps[0].op == EpilogueOp::kBias;
  if (!place.inputs[1].empty() && !(has_bias && place.inputs[2].empty())) return std::nullopt;
  const ScaleShift linear = linear_of(constants, workload, place);
  const std::string_view name = constants.model().nodes[place.nodes[0]].input(1);
  Folded folded;
  std::vector<double> filter;
  if (place.inputs[1].empty() || largest_of(linear.peak) > kMostTakenBack * largest_of(linear.shift)) {
    filter = constants.elements(name);
    if (filter.empty() || filter.size() % linear.scale.size() != 0)
      throw_user("'{}' has {} elements for {} channels", name, filter.size(), linear.scale.size());
    refuse_taken_back(linear, largest_of(filter) * largest_of(linear.scale), place.output);
  }
  if (place.inputs[1].empty()) folded.filter = scaled_filter(filter, workload, linear.scale, place.output);
  if (has_bias) folded.bias = rounded(linear.shift);
  return folded;
}

}  // namespace lehr
