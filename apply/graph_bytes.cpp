#include "apply/graph_bytes.h"

#include "base/small_float.h"
#include "network/protobuf.h"

namespace lehr {
namespace {

// AttributeProto's types.
constexpr std::int64_t kIntAttribute = 2, kTextAttribute = 3, kIntsAttribute = 7;

}  // namespace

std::string text_attribute(std::string_view name, std::string_view text) {
  return bytes_field(5, bytes_field(1, name) + bytes_field(4, text) + number_field(20, kTextAttribute));
}

std::string int_attribute(std::string_view name, std::int64_t value) {
  return bytes_field(5, bytes_field(1, name) + number_field(3, value) + number_field(20, kIntAttribute));
}

std::string ints_attribute(std::string_view name, const std::vector<std::int64_t>& values) {
  std::string attribute = bytes_field(1, name);
  for (const std::int64_t value : values) attribute += number_field(8, value);
  return bytes_field(5, attribute + number_field(20, kIntsAttribute));
}

std::string node_record(std::string_view op, const std::vector<std::string_view>& inputs,
                        std::string_view output, std::string_view attributes) {
  std::string node;
  for (const std::string_view input : inputs) node += bytes_field(1, input);
  node += bytes_field(2, output) + bytes_field(4, op);
  return bytes_field(1, node.append(attributes));
}

std::string cast_record(std::string_view from, std::string_view to, OnnxType type) {
  return node_record("Cast", {from}, to, int_attribute("to", static_cast<std::int64_t>(type)));
}

std::string unnamed_tensor(const PlaceConstant& constant) {
  std::string bytes;
  for (const std::int64_t dim : constant.shape) bytes += number_field(1, dim);
  bytes += number_field(2, static_cast<std::int64_t>(onnx_type_of(constant.type)));
  return bytes + bytes_field(9, constant.bytes);
}

PlaceConstant f32_constant(const std::vector<std::int64_t>& shape, const std::vector<float>& values) {
  return {DType::kF32, shape, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)}};
}

PlaceConstant bf16_constant(const std::vector<std::int64_t>& shape, const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) {
    const std::uint16_t bits = to_bf16(value);
    bytes += {static_cast<char>(bits & 0xff), static_cast<char>(bits >> 8)};
  }
  return {DType::kBF16, shape, std::move(bytes)};
}

}  // namespace lehr
