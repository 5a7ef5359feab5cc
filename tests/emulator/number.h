// Bit patterns of the small floating-point types, decoded and encoded by their definition and independently
// of measure/, so that a kernel's conversions have a second witness.
#pragma once

#include <cstdint>

namespace lehr::emulator {

/// PTX ISA, "Fundamental Types" (f16) and "Alternate Floating-Point Data Formats" (bf16, e4m3, e5m2).
struct NumberFormat {
  int exponent_bits = 0;
  int fraction_bits = 0;
  bool infinity = true;  ///< false: only the pattern of all ones is no number (e4m3)
};
inline constexpr NumberFormat kF16{5, 10, true};
inline constexpr NumberFormat kBF16{8, 7, true};
inline constexpr NumberFormat kE4M3{4, 3, false};
inline constexpr NumberFormat kE5M2{5, 2, true};

/// Returns the exact value of the low 1 + exponent_bits + fraction_bits bits.
float decode(const NumberFormat& format, std::uint32_t bits);
/// Rounds to nearest even, overflow to infinity (cvt.rn). For formats with infinity. NaN becomes all ones
/// below the sign.
std::uint32_t encode(const NumberFormat& format, float value);

/// Rounds as cvt.rna.tf32.f32: to 10 fraction bits, ties away from zero; as f32 bits whose low 13 are zero.
std::uint32_t round_to_tf32(float value);
/// Returns the value that mma.sync reads of a .tf32 register: the low 13 bits are ignored.
float truncate_to_tf32(std::uint32_t bits);

}  // namespace lehr::emulator
