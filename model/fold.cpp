#include "model/fold.h"

#include <algorithm>
#include <cmath>
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

/// Filter and bias, while one node after the other is worked into them.
struct Linear {
  std::vector<double> scale, shift;  // of each channel, of what the filter alone gives

  void apply(const std::vector<double>& factor, const std::vector<double>& summand) {
    for (std::size_t i = 0; i < scale.size(); ++i) {
      if (!factor.empty()) scale[i] *= factor[i], shift[i] *= factor[i];
      if (!summand.empty()) shift[i] += summand[i];
    }
  }
};

void expect_size(const std::vector<double>& values, std::size_t channels, std::string_view name) {
  if (values.size() != channels)
    throw_user("'{}' has {} elements for {} channels", name, values.size(), channels);
}

Linear linear_of(const Constants& constants, const Workload& workload, const ModelPlace& place) {
  const std::size_t channels = channels_of(workload);
  const OnnxNode& main = constants.model().nodes[place.nodes[0]];
  Linear linear = {std::vector<double>(channels, 1), std::vector<double>(channels, 0)};
  if (!main.input(2).empty()) {
    linear.shift = constants.elements(main.input(2));
    expect_size(linear.shift, channels, main.input(2));
  }
  std::string_view made = main.outputs[0];
  for (const std::size_t at : place.linear) {
    const OnnxNode& node = constants.model().nodes[at];
    if (node.op == "BatchNormalization") {
      const ScaleShift both = scale_shift_of(constants, node);
      expect_size(both.scale, channels, node.input(1));
      linear.apply(both.scale, both.shift);
    } else {
      const std::string_view name = other_input(node, made);
      const std::vector<double> values = constants.elements(name);
      expect_size(values, channels, name);
      linear.apply(node.op == "Mul" ? values : std::vector<double>(),
                   node.op == "Mul" ? std::vector<double>() : values);
    }
    made = node.outputs[0];
  }
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

ScaleShift scale_shift_of(const Constants& constants, const OnnxNode& normalization) {
  const auto input = [&](std::size_t i) { return constants.elements(normalization.input(i)); };
  ScaleShift result = {input(1), input(2)};
  const std::vector<double> mean = input(3), variance = input(4);
  for (std::size_t i = 2; i < 5; ++i)
    expect_size(i == 2   ? result.shift
                : i == 3 ? mean
                         : variance,
                result.scale.size(), normalization.input(i));
  const double epsilon = normalization.number("epsilon", 1e-5F);
  for (std::size_t i = 0; i < result.scale.size(); ++i) {
    result.scale[i] /= std::sqrt(variance[i] + epsilon);
    result.shift[i] -= mean[i] * result.scale[i];
  }
  return result;
}

std::optional<Folded> fold(const Constants& constants, const Workload& workload, const ModelPlace& place) {
  const bool has_bias = place.inputs.size() > 2 && !workload.epilogue.steps.empty() &&
                        workload.epilogue.steps[0].op == EpilogueOp::kBias;
  if (!place.inputs[1].empty() && !(has_bias && place.inputs[2].empty())) return std::nullopt;
  const Linear linear = linear_of(constants, workload, place);
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
