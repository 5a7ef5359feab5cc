#include "plugin/types.h"

namespace lehr::onnxruntime {
namespace {

constexpr struct {
  const char* word;
  OrtElementType type;
  std::int64_t bytes;
} kTypes[] = {{"f32", OrtElementType::kFloat, 4},   {"bf16", OrtElementType::kBfloat16, 2},
              {"f16", OrtElementType::kFloat16, 2}, {"f64", OrtElementType::kDouble, 8},
              {"u8", OrtElementType::kUint8, 1},    {"s8", OrtElementType::kInt8, 1},
              {"s7", OrtElementType::kInt8, 1},     {"s32", OrtElementType::kInt32, 4}};

}  // namespace

OrtElementType type_named(std::string_view word) {
  for (const auto& known : kTypes)
    if (known.word == word) return known.type;
  return OrtElementType::kUndefined;
}

const char* word_of(OrtElementType type) {
  for (const auto& known : kTypes)
    if (known.type == type) return known.word;
  return "another type";
}

std::int64_t bytes_of(OrtElementType type) {
  for (const auto& known : kTypes)
    if (known.type == type) return known.bytes;
  return 0;
}

bool Shape::operator==(const Shape& other) const {
  if (rank != other.rank) return false;
  for (std::size_t i = 0; i < rank; ++i)
    if (dims[i] != other.dims[i]) return false;
  return true;
}

std::int64_t Shape::bytes(OrtElementType type) const {
  std::int64_t bytes = bytes_of(type);
  for (std::size_t i = 0; i < rank; ++i)
    if (dims[i] < 0 || __builtin_mul_overflow(bytes, dims[i], &bytes)) return -1;
  return bytes;
}

}  // namespace lehr::onnxruntime
