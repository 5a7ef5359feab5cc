// Floats narrower than f32 as bit patterns. The host has no arithmetic for them on which all compilers agree.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace lehr {

// Convert to the nearest value, ties to even. Beyond their range f16 and bf16 become infinite, as in IEEE
// 754, while the 8-bit types saturate (as PTX's cvt with .satfinite).
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

/// Returns the value of `type` that is nearest to `value`. Integers saturate.
float rounded_to(DType type, float value);

}  // namespace lehr
