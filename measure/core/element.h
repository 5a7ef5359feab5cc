// Elements of tensors as bytes: f32 values to and from a device's types, and the poison that outputs hold
// before a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/dtype.h"

namespace lehr {

/// The byte that poisoned memory is filled with. Four of them are a NaN in f32, two in f16 and bf16, eight in
/// f64: one that no arithmetic produces. For integers it is -1 (255 for u8), which a right result may hold.
inline constexpr unsigned char kPoisonByte = 0xFF;

/// Writes `values` as `type` at `bytes` (values.size() * size_of(type) bytes). Rounds to nearest even;
/// integers saturate.
void store_elements(DType type, std::span<const float> values, void* bytes);
/// Element `index` of an array of `type`.
double load_element(DType type, const void* bytes, std::int64_t index);
/// Whether element `index` still holds the poison. Always false for integers (see kPoisonByte).
bool is_poison(DType type, const void* bytes, std::int64_t index);

}  // namespace lehr
