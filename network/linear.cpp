#include "network/linear.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace lehr {
namespace {

/// Returns the input of the node that is not `made`.
std::string_view other_input(const OnnxNode& node, std::string_view made) {
  return node.input(0) == made ? node.input(1) : node.input(0);
}

void expect_size(const std::vector<double>& values, std::size_t channels, std::string_view name) {
  if (values.size() != channels)
    throw_user("'{}' has {} elements for {} channels", name, values.size(), channels);
}

bool is_usual(double factor) {
  return factor == 0 || (std::abs(factor) >= 1 / kLargestFactor && std::abs(factor) <= kLargestFactor);
}

ScaleShift normalization_of(const Constants& constants, const OnnxNode& node, std::size_t channels) {
  std::vector<double> inputs[5];
  for (std::size_t i = 1; i < 5; ++i) inputs[i] = channel_elements(constants, node.input(i), channels);
  ScaleShift result = {inputs[1], inputs[2]};
  const double epsilon = node.number("epsilon", 1e-5F);
  for (std::size_t i = 0; i < channels; ++i) {
    result.scale[i] /= std::sqrt(inputs[4][i] + epsilon);
    result.shift[i] -= inputs[3][i] * result.scale[i];
  }
  return result;
}

/// Returns the scale and shift that a node applies to its input `made`. The node's constant is one number for
/// all channels, or one per channel.
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

/// Whether the value is a constant of f32 in the model's own file, so that its elements can be read at once.
bool is_at_hand(const Constants& constants, std::string_view value) {
  const OnnxTensor* const tensor = constants.find(value);
  return tensor != nullptr && !tensor->external && tensor->type == OnnxType::kF32;
}

bool all_finite(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
}

}  // namespace

std::vector<double> channel_elements(const Constants& constants, std::string_view name,
                                     std::size_t channels) {
  std::vector<double> values = constants.elements(name);
  expect_size(values, channels, name);
  return values;
}

ScaleShift unscaled(std::size_t channels) {
  return {std::vector<double>(channels, 1), std::vector<double>(channels, 0)};
}

void work_in(const Constants& constants, const OnnxNode& node, std::string_view made, ScaleShift& all) {
  const ScaleShift one = scale_shift_of_node(constants, node, made, all.scale.size());
  all.peak.resize(all.scale.size());
  for (std::size_t i = 0; i < all.scale.size(); ++i) {
    all.scale[i] *= one.scale[i];
    const double before = all.shift[i] * one.scale[i];
    all.shift[i] = before + one.shift[i];
    if (!is_usual(one.scale[i]) || !is_usual(all.scale[i]) || !(std::abs(all.shift[i]) <= kLargestFactor))
      throw_user("what '{}' is made with is too large, too small or no number", node.outputs[0]);
    all.peak[i] = std::max({all.peak[i] * std::abs(one.scale[i]), std::abs(before), std::abs(one.shift[i])});
  }
}

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
    const bool is_made_by_nodes = input != made && constants.find(input) == nullptr;
    if (is_made_by_nodes || !is_foldable(constants, input)) return false;
    at_hand = at_hand && (input == made || is_at_hand(constants, input));
  }
  if (!at_hand) return true;
  try {
    ScaleShift one = unscaled(channels);
    work_in(constants, node, made, one);
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUser) throw;
    return false;
  }
}

}  // namespace lehr
