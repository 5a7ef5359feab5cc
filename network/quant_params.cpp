#include "network/quant_params.h"

#include <cmath>

#include "base/error.h"
#include "network/constants.h"

namespace lehr {

bool is_8_bit(OnnxType type) {
  return type == OnnxType::kU8 || type == OnnxType::kS8;
}

QuantParams QuantParamsReader::read(OnnxType type, std::string_view scale, std::string_view zero,
                                    std::int64_t axis) const {
  QuantParams quant_params{type, {}, {0}, axis};
  const OnnxTensor* const scales = few(scale, OnnxType::kF32);
  if (scales == nullptr) refuse("the scale '{}' is no constant of f32 in the file", scale);
  const OnnxTensor* const zeros = zero.empty() ? nullptr : few(zero, type);
  if (zeros == nullptr && !zero.empty())
    refuse("the zero point '{}' is no constant of {} in the file", zero, name_of(type));
  try {
    quant_params.scales = f32_elements(graph_.model, *scales);
    if (zeros != nullptr) quant_params.zeros = whole_elements(graph_.model, *zeros);
  } catch (const Error& error) {
    refuse("{}", error.what());
  }
  for (const float number : quant_params.scales)
    if (!std::isfinite(number) || number <= 0) refuse("the scale '{}' is not above 0", scale);
  if (quant_params.zeros.size() != 1 && quant_params.zeros.size() != quant_params.scales.size())
    refuse("there are {} zero points in '{}', and {} scales", quant_params.zeros.size(), zero,
           quant_params.scales.size());
  return quant_params;
}

const OnnxTensor* QuantParamsReader::few(std::string_view name, OnnxType type) const {
  const OnnxTensor* const tensor = graph_.shapes.of(name).constant;
  const bool fits = tensor != nullptr && tensor->type == type && element_count(*tensor) > 0 &&
                    element_count(*tensor) <= kMostChannels;
  return fits ? tensor : nullptr;
}

QuantParams QuantParamsReader::of_node(const OnnxNode& node, std::string_view value) const {
  if (node.whole("block_size", 0) != 0) refuse("it is quantized in blocks");
  return read(graph_.shapes.of(value).type, node.input(1), node.input(2), node.whole("axis", 1));
}

std::optional<QuantizedValue> QuantParamsReader::dequantized(std::string_view value) const {
  const auto maker = graph_.makers.find(value);
  if (maker == graph_.makers.end()) return std::nullopt;
  const OnnxNode& node = graph_.model.nodes[maker->second];
  if (node.op != "DequantizeLinear" || !node.domain.empty()) return std::nullopt;
  return QuantizedValue{node.input(0), of_node(node, node.input(0)), maker->second};
}

QuantizedValue QuantParamsReader::of_inputs(const OnnxNode& node, std::size_t first,
                                            std::int64_t axis) const {
  const std::string_view value = node.input(first);
  return {value, read(graph_.shapes.of(value).type, node.input(first + 1), node.input(first + 2), axis), {}};
}

}  // namespace lehr
