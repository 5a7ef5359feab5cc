#include "network/codings.h"

#include <cmath>

namespace lehr {

bool is_8_bit(OnnxType type) {
  return type == OnnxType::kU8 || type == OnnxType::kS8;
}

Coding Codings::read(OnnxType type, std::string_view scale, std::string_view zero, std::int64_t axis) const {
  Coding coding{type, {}, {0}, axis};
  const OnnxTensor* const scales = graph_.shapes.of(scale).constant;
  const auto numbers = scales ? floats_of(*scales, kMostChannels) : std::nullopt;
  if (!numbers || numbers->empty()) refuse("the scale '{}' is no constant of f32 in the file", scale);
  for (const float number : *numbers)
    if (!std::isfinite(number) || number <= 0) refuse("the scale '{}' is not above 0", scale);
  coding.scales = *numbers;
  if (zero.empty()) return coding;
  const OnnxTensor* const zeros = graph_.shapes.of(zero).constant;
  const auto wholes = zeros ? wholes_of(*zeros, kMostChannels) : std::nullopt;
  if (!wholes || wholes->empty() || graph_.shapes.of(zero).type != type)
    refuse("the zero point '{}' is no constant of {} in the file", zero, name_of(type));
  if (wholes->size() != 1 && wholes->size() != numbers->size())
    refuse("there are {} zero points in '{}', and {} scales", wholes->size(), zero, numbers->size());
  coding.zeros = *wholes;
  return coding;
}

Coding Codings::of_node(const OnnxNode& node, std::string_view value) const {
  if (node.whole("block_size", 0) != 0) refuse("it is quantized in blocks");
  return read(graph_.shapes.of(value).type, node.input(1), node.input(2), node.whole("axis", 1));
}

std::optional<Coded> Codings::dequantized(std::string_view value) const {
  const auto maker = graph_.makers.find(value);
  if (maker == graph_.makers.end()) return std::nullopt;
  const OnnxNode& node = graph_.model.nodes[maker->second];
  if (node.op != "DequantizeLinear" || !node.domain.empty()) return std::nullopt;
  return Coded{node.input(0), of_node(node, node.input(0)), maker->second};
}

Coded Codings::of_inputs(const OnnxNode& node, std::size_t first, std::int64_t axis) const {
  const std::string_view value = node.input(first);
  return {value, read(graph_.shapes.of(value).type, node.input(first + 1), node.input(first + 2), axis), {}};
}

}  // namespace lehr
