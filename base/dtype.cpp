#include "base/dtype.h"

#include <array>

namespace lehr {
namespace {

struct Row {
  DType type;
  std::string_view name;
  int bytes;
};
constexpr std::array<Row, 10> kRows = {{{DType::kF64, "f64", 8},
                                        {DType::kF32, "f32", 4},
                                        {DType::kF16, "f16", 2},
                                        {DType::kBF16, "bf16", 2},
                                        {DType::kS32, "s32", 4},
                                        {DType::kS8, "s8", 1},
                                        {DType::kU8, "u8", 1},
                                        {DType::kE4M3, "e4m3", 1},
                                        {DType::kE5M2, "e5m2", 1},
                                        {DType::kU32, "u32", 4}}};

}  // namespace

int size_of(DType type) {
  return kRows[static_cast<std::size_t>(type)].bytes;
}

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
