#include "apply/fold.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "base/error.h"
#include "network/linear.h"
#include "workload/operator.h"

namespace lehr {
namespace {

/// Whether the elements of one channel are contiguous. This holds for filters, and for a B that is stored
/// transposed. In any other B a channel is a column.
bool is_channel_first(const Workload& workload) {
  return images_of(workload) || tensor_shapes(workload)[1].back().stride > 1;
}

// Largest ratio of an intermediate shift to the final values. With a larger ratio the nodes use the shift for
// rounding, as in x + 2^23 - 2^23, and must not be folded.
constexpr double kMostTakenBack = 1024;

/// Adds the linear operations of several nodes to `all`, in order. The first node reads `made`.
void work_in_all(const Constants& constants, const std::vector<std::size_t>& nodes, std::string_view made,
                 ScaleShift& all) {
  for (const std::size_t at : nodes) {
    const OnnxNode& node = constants.model().nodes[at];
    work_in(constants, node, made, all);
    made = node.outputs[0];
  }
}

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

/// Returns the scale and shift that the bias and the linear nodes apply to each channel of the filter's own
/// result.
ScaleShift linear_of(const Constants& constants, const Workload& workload, const Match& match) {
  const OnnxNode& main = constants.model().nodes[match.nodes[0]];
  ScaleShift linear = unscaled(static_cast<std::size_t>(channels_of(workload)));
  if (!main.input(2).empty()) linear.shift = channel_elements(constants, main.input(2), linear.scale.size());
  work_in_all(constants, match.linear, main.outputs[0], linear);
  return linear;
}

std::vector<float> rounded(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

/// Scales the filter. Throws if the largest element of a channel becomes so small that f32 would lose digits
/// of it, unless the element is 0. Losses in the channel's other elements are then negligible.
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
    if (one != 0 && (one > kLargestFactor || one < std::numeric_limits<float>::min() * (1 << 24)))
      throw_user("the filter that is made for '{}' is too large, too small or no number", output);
  return rounded(result);
}

void refuse_taken_back(const ScaleShift& all, double largest, std::string_view output) {
  if (largest_of(all.peak) > kMostTakenBack * std::max(largest, largest_of(all.shift)))
    throw_user("what makes '{}' rounds by a summand that is taken back", output);
}

}  // namespace

FoldedScaling fold_scaling(const Constants& constants, const Workload& workload, const Match& match) {
  ScaleShift both = unscaled(static_cast<std::size_t>(channels_of(workload)));
  // The first node of `scaling` reads the output of the node before it in the match.
  const auto first = std::ranges::find(match.nodes, match.scaling.front());
  work_in_all(constants, match.scaling, constants.model().nodes[*std::prev(first)].outputs[0], both);
  refuse_taken_back(both, largest_of(both.scale), match.output);
  return {rounded(both.scale), rounded(both.shift)};
}

std::optional<Folded> fold(const Constants& constants, const Workload& workload, const Match& match) {
  if (!match.made.empty() || match.by_rows) return std::nullopt;  // the match is quantized, or has no filter
  const bool has_bias = match.inputs.size() > 2 && !workload.epilogue.steps.empty() &&
                        workload.epilogue.steps[0].op == EpilogueOp::kBias;
  if (!match.inputs[1].empty() && !(has_bias && match.inputs[2].empty())) return std::nullopt;
  const ScaleShift linear = linear_of(constants, workload, match);
  const std::string_view name = constants.model().nodes[match.nodes[0]].input(1);
  Folded folded;
  std::vector<double> filter;
  if (match.inputs[1].empty() || largest_of(linear.peak) > kMostTakenBack * largest_of(linear.shift)) {
    filter = constants.elements(name);
    if (filter.empty() || filter.size() % linear.scale.size() != 0)
      throw_user("'{}' has {} elements for {} channels", name, filter.size(), linear.scale.size());
    refuse_taken_back(linear, largest_of(filter) * largest_of(linear.scale), match.output);
  }
  if (match.inputs[1].empty()) folded.filter = scaled_filter(filter, workload, linear.scale, match.output);
  if (has_bias) folded.bias = rounded(linear.shift);
  return folded;
}

}  // namespace lehr
