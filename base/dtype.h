// Scalar types of operands and accumulators.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace lehr {

enum class DType { kF64, kF32, kF16, kBF16, kS32, kS8, kU8 };

/// Bytes of one element.
int size_of(DType type);
/// "f32", "bf16", ...; the spelling of the command line and of canonical texts.
std::string_view name_of(DType type);
/// The inverse of name_of; nullopt for an unknown spelling.
std::optional<DType> parse_dtype(std::string_view name);
/// Every type, in the order of the enumeration.
std::span<const DType> all_dtypes();

}  // namespace lehr
