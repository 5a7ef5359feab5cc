// wgmma as values: the positions of the operands in shared memory, and the computation of the sums. Layouts
// are those of the PTX ISA 9.0, "Asynchronous Warpgroup Level Matrix Instructions".
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "mma_type.h"

namespace lehr::emulator {

inline constexpr int kWarpgroup = 128;
inline constexpr int kWgmmaRows = 64;
inline constexpr int kOperandRowBytes = 32;   ///< bytes of k in one instruction, whatever the type
inline constexpr int kFragmentRegisters = 4;  ///< registers of a thread, for an A that comes from registers

/// Applies the swizzle of the TMA and of wgmma: the number of the 16-byte chunk within `span` bytes (32, 64,
/// 128; 0: no swizzle) is xored with the number of the 128-byte line ("Shared Memory Matrix Layout"; CUDA
/// Driver API, CUtensorMapSwizzle).
std::uint32_t swizzled(std::uint32_t address, int span);

/// The fields of a matrix descriptor: "Matrix Descriptor Format".
struct MatrixDescriptor {
  std::uint32_t start = 0;    ///< in bytes, like `leading` and `stride`
  std::uint32_t leading = 0;  ///< LBO
  std::uint32_t stride = 0;   ///< SBO
  int swizzle = 0;            ///< span in bytes
  bool operator==(const MatrixDescriptor&) const = default;
};
MatrixDescriptor decoded(std::uint64_t bits);

/// Returns the addresses of the operand's 16-byte chunks. `across` is 64, the rows of A, or the number of
/// columns of B. If `along_k`, chunk c of row x is at [x * 2 + c], and its elements are consecutive in k. If
/// not (16-bit types only), chunk c of k is at [k * across / 8 + c], and its elements are consecutive in rows
/// or columns.
std::vector<std::uint32_t> chunks_of(const MatrixDescriptor& matrix, int across, bool along_k);

struct WgmmaOperand {
  bool along_k = true;
  MatrixDescriptor matrix;
  bool operator==(const WgmmaOperand&) const = default;
};

/// One operation of a warpgroup.
struct Wgmma {
  EmulatedMma type = EmulatedMma::kBF16;
  int columns = 8;
  bool add = true;              ///< false: the accumulators start from zero
  bool a_in_registers = false;  ///< if true, `a` is not used
  WgmmaOperand a, b;
  bool operator==(const Wgmma&) const = default;

  std::vector<std::uint32_t> chunks_of_a() const {
    return a_in_registers ? std::vector<std::uint32_t>() : chunks_of(a.matrix, kWgmmaRows, a.along_k);
  }
  std::vector<std::uint32_t> chunks_of_b() const { return chunks_of(b.matrix, columns, b.along_k); }
};
/// Row and column of register `index` of a thread of the warpgroup: "Register Fragments for
/// wgmma.mma_async.m64nNk*".
struct WgmmaPlace {
  int row, column;
};
WgmmaPlace place_of_sum(int thread, int index);

/// Returns row and k of register `index` of a thread, for an A of .tf32 in registers: "Register Fragments for
/// wgmma.mma_async.m64nNk8".
WgmmaPlace place_of_a(int thread, int index);

/// Adds the products to `sums`, which has 64 x columns values by rows, as bits (f32; s32 for s8). `memory`
/// maps an address in shared memory to its 16 bytes. Products are added as in tensor_sum.h, those of s8
/// exactly. `a` has the threads' registers, one thread after the other, if A comes from registers.
void multiply(const Wgmma& operation, const std::vector<std::uint32_t>& a,
              const std::function<const unsigned char*(std::uint32_t)>& memory,
              std::vector<std::uint32_t>& sums);

}  // namespace lehr::emulator
