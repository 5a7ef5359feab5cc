// Scalar types of operands, accumulators and registers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace lehr {

/// kE4M3 and kE5M2 are the 8-bit floats of the OCP specification "OFP8" (revision 1.0). kS16 holds 8-bit
/// integers whose products are added in pairs. kS7 is an s8 from -64 to 64, for filters and a constant B: the
/// sum of two of its products with a u8 fits into 16 bits. kU32, kS16, kS64 and kU16 are no types of a
/// workload's tensors.
enum class DType : std::uint8_t {
  kF64,
  kF32,
  kF16,
  kBF16,
  kS32,
  kS8,
  kU8,
  kE4M3,
  kE5M2,
  kU32,
  kS16,
  kS7,
  kS64,
  kU16
};

/// Returns the bytes of one element.
constexpr int size_of(DType type) {
  constexpr std::array<int, 14> kBytes = {8, 4, 2, 2, 4, 1, 1,
                                          1, 1, 4, 2, 1, 8, 2};  // in the order of the enumeration
  return kBytes[static_cast<std::size_t>(type)];
}
constexpr bool is_integer(DType type) {
  return type == DType::kS32 || type == DType::kS8 || type == DType::kU8 || type == DType::kU32 ||
         type == DType::kS16 || type == DType::kS7 || type == DType::kS64 || type == DType::kU16;
}
/// Returns "f32", "bf16", ...: the name on the command line and in canonical texts.
std::string_view name_of(DType type);
/// Parses what name_of returns; nullopt for an unknown spelling.
std::optional<DType> parse_dtype(std::string_view name);
/// Returns every type, in the order of the enumeration.
std::span<const DType> all_dtypes();

}  // namespace lehr
