#include "base/dtype.h"

#include <array>

namespace lehr {
namespace {

struct Row {
  DType type;
  std::string_view name;
};
constexpr std::array<Row, 14> kRows = {{{DType::kF64, "f64"},
                                        {DType::kF32, "f32"},
                                        {DType::kF16, "f16"},
                                        {DType::kBF16, "bf16"},
                                        {DType::kS32, "s32"},
                                        {DType::kS8, "s8"},
                                        {DType::kU8, "u8"},
                                        {DType::kE4M3, "e4m3"},
                                        {DType::kE5M2, "e5m2"},
                                        {DType::kU32, "u32"},
                                        {DType::kS16, "s16"},
                                        {DType::kS7, "s7"},
                                        {DType::kS64, "s64"},
                                        {DType::kU16, "u16"}}};

}  // namespace

std::string_view name_of(DType type) {
  return kRows[static_cast<std::size_t>(type)].name;
}

std::optional<DType> parse_dtype(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

std::span<const DType> all_dtypes() {
  static constexpr auto kTypes = [] {
    std::array<DType, kRows.size()> types{};
    for (std::size_t i = 0; i < types.size(); ++i) types[i] = kRows[i].type;
    return types;
  }();
  return kTypes;
}

}  // namespace lehr
