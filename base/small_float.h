// Floats narrower than f32 as bit patterns: the host has no arithmetic for them that every compiler agrees
// on.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace lehr {

// Rounding is to the nearest value, ties to even. f16 and bf16 become infinite beyond their range as IEEE 754
// says; the 8-bit types saturate (as PTX's cvt with .satfinite does).
std::uint16_t to_bf16(float value);
float from_bf16(std::uint16_t bits);
std::uint16_t to_f16(float value);
float from_f16(std::uint16_t bits);
/// Format: 1 sign, 4 exponent (bias 7), 3 fraction bits; largest 448, no infinity, one NaN per sign.
std::uint8_t to_e4m3(float value);
float from_e4m3(std::uint8_t bits);
/// Format: 1 sign, 5 exponent (bias 15), 2 fraction bits; largest 57344; infinity and NaN as in IEEE 754.
std::uint8_t to_e5m2(float value);
float from_e5m2(std::uint8_t bits);

/// Returns the value of `type` that is nearest to `value`; integers saturate.
float rounded_to(DType type, float value);

}  // namespace lehr
