// Element types of mma.sync, as emulated text names them to the machine. No include: device.h takes it in.
#pragma once

/// Both inputs of the mma. The shape follows: m16n8 and 256 bits of k, of kF16HalfK 128 (PTX ISA,
/// "Multiply-and-Accumulate Instruction: mma"). All accumulate in f32, s8 in s32.
enum class EmulatedMma { kBF16, kF16, kTF32, kS8, kE4M3, kE5M2, kF16HalfK };
