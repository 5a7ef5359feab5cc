#include "apply/graph_bytes.h"

#include <cstring>

#include "base/small_float.h"
#include "network/protobuf.h"

namespace lehr {
std::string cast_record(std::string_view from, std::string_view to, OnnxType type) {
  return node_record("Cast", {from}, to, int_attribute("to", static_cast<std::int64_t>(type)));
}

std::string transpose_record(std::string_view from, std::string_view to,
                             const std::vector<std::int64_t>& order) {
  return node_record("Transpose", {from}, to, ints_attribute("perm", order));
}

std::string unnamed_tensor(const MatchConstant& constant) {
  std::string bytes;
  for (const std::int64_t dim : constant.shape) bytes += number_field(1, dim);
  bytes += number_field(2, static_cast<std::int64_t>(onnx_type_of(constant.type)));
  return bytes + bytes_field(9, constant.bytes);
}

MatchConstant f32_constant(const std::vector<std::int64_t>& shape, const std::vector<float>& values) {
  return {DType::kF32, shape, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)}};
}

MatchConstant bf16_constant(const std::vector<std::int64_t>& shape, const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) {
    const std::uint16_t bits = to_bf16(value);
    bytes += {static_cast<char>(bits & 0xff), static_cast<char>(bits >> 8)};
  }
  return {DType::kBF16, shape, std::move(bytes)};
}

MatchConstant transposed(const MatchConstant& constant, const std::vector<std::int64_t>& order) {
  const std::size_t rank = order.size(), bytes = constant.bytes.size();
  std::size_t elements = 1;
  for (const std::int64_t size : constant.shape) elements *= static_cast<std::size_t>(size);
  const std::size_t each = elements == 0 ? 0 : bytes / elements;
  MatchConstant turned = {constant.type, {}, std::string(bytes, 0)};
  std::vector<std::size_t> steps(rank, each), from(rank);  // bytes between neighbours along each dimension
  for (std::size_t i = rank - 1; i-- > 0;)
    steps[i] = steps[i + 1] * static_cast<std::size_t>(constant.shape[i + 1]);
  for (std::size_t i = 0; i < rank; ++i) {
    turned.shape.push_back(constant.shape[static_cast<std::size_t>(order[i])]);
    from[i] = steps[static_cast<std::size_t>(order[i])];
  }
  std::vector<std::int64_t> at(rank, 0);
  for (std::size_t to = 0, source = 0; to < bytes; to += each) {
    std::memcpy(&turned.bytes[to], &constant.bytes[source], each);
    for (std::size_t i = rank; i-- > 0;) {
      source += from[i];
      if (++at[i] < turned.shape[i]) break;
      source -= from[i] * static_cast<std::size_t>(turned.shape[i]);
      at[i] = 0;
    }
  }
  return turned;
}

}  // namespace lehr
