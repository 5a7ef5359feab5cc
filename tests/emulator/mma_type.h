// Element types of mma.sync, for the calls from emulated text to the machine. It includes nothing, because
// device.h includes it.
#pragma once

/// Type of both inputs of an mma. The shape follows from it: m16n8, and k with 256 bits (128 bits for
/// kF16HalfK) (PTX ISA, "Multiply-and-Accumulate Instruction: mma"). All types accumulate in f32, except that
/// s8 accumulates in s32.
enum class EmulatedMma { kBF16, kF16, kTF32, kS8, kE4M3, kE5M2, kF16HalfK };
