// Decodes and encodes the bit patterns of the small floating-point types by their definition. It is
// independent of measure/, so that a kernel's conversions are checked twice.
#pragma once

#include <cstdint>

namespace lehr::emulator {

/// PTX ISA, "Fundamental Types" (f16) and "Alternate Floating-Point Data Formats" (bf16, e4m3, e5m2).
struct NumberFormat {
  int exponent_bits = 0;
  int fraction_bits = 0;
  bool infinity = true;  ///< false: only the pattern of all ones is NaN, and there is no infinity (e4m3)
};
inline constexpr NumberFormat kF16{5, 10, true};
inline constexpr NumberFormat kBF16{8, 7, true};
inline constexpr NumberFormat kE4M3{4, 3, false};
inline constexpr NumberFormat kE5M2{5, 2, true};

/// Returns the exact value of the low (1 + exponent_bits + fraction_bits) bits.
float decode(const NumberFormat& format, std::uint32_t bits);
/// Rounds to nearest even, and overflows to infinity (cvt.rn). Only for formats with infinity. NaN becomes
/// all ones below the sign.
std::uint32_t encode(const NumberFormat& format, float value);

/// Rounds as cvt.rna.tf32.f32 does: to 10 fraction bits, with ties away from zero. Returns f32 bits whose low
/// 13 bits are zero.
std::uint32_t round_to_tf32(float value);
/// Returns the value that mma.sync reads from a .tf32 register. It ignores the low 13 bits.
float truncate_to_tf32(std::uint32_t bits);

}  // namespace lehr::emulator
