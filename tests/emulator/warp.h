// Warp collectives: the exchange between 32 lanes once all of them have come. The functions touch registers
// only. machine.cpp waits for all lanes, and moves the data that is in shared memory.
#pragma once

#include <array>
#include <cstdint>

#include "mma_type.h"
#include "tensor_sum.h"

namespace lehr::emulator {

inline constexpr int kLanes = 32;

/// KWgmmaWait exchanges nothing, but must be executed by the whole warp.
enum class Collective { kBarrier, kShuffle, kUniform, kVote, kLoadMatrix, kStoreMatrix, kMma, kWgmmaWait };
/// Returns "ldmatrix", "mma.sync", ...
const char* name_of(Collective what);

/// The arguments of one lane. The pointers point to the lane's own registers, except for `row`.
struct WarpCall {
  Collective what = Collective::kBarrier;
  int line = 0;
  int count = 0;            ///< ldmatrix, stmatrix: 1, 2 or 4 matrices; shuffle: width of the groups
  bool transposed = false;  ///< ldmatrix, stmatrix
  EmulatedMma type = EmulatedMma::kBF16;
  unsigned char* row = nullptr;  ///< ldmatrix, stmatrix: this lane's row of 16 bytes
  std::uint32_t* out = nullptr;  ///< the result; for mma it is the accumulator, too
  const std::uint32_t* a = nullptr;
  const std::uint32_t* b = nullptr;
  int lane_mask = 0;  ///< shuffle: the other lane is (this lane xor lane_mask)
};
/// Returns whether two lanes execute the same instruction.
bool same_instruction(const WarpCall& a, const WarpCall& b);

/// Returns the number that a tensor core reads from the bits.
float value_of(EmulatedMma type, std::uint32_t bits);
int bits_of(EmulatedMma type);
/// Returns the adder of a type. Not for kS8, whose sums are exact.
const TensorAdder& adder_of(EmulatedMma type);

using Lanes = std::array<WarpCall*, kLanes>;

/// 8 x 8 elements of 16 bits, row by row.
using Matrix8x8 = std::array<std::array<std::uint16_t, 8>, 8>;
/// Returns the lane that gives the address of a row. PTX ISA, "Warp-level matrix load instruction: ldmatrix":
/// lanes 0 to 7 for the first matrix, 8 to 15 for the second, ...
inline int lane_of_row(int matrix, int row) {
  return 8 * matrix + row;
}
/// Write register `matrix` of every lane from the matrix (ldmatrix), and the matrix from the registers
/// (stmatrix).
void distribute(const Lanes& lanes, int matrix, const Matrix8x8& from);
Matrix8x8 collect(const Lanes& lanes, int matrix);

/// Performs shfl.sync.bfly of one 32-bit register (PTX ISA, "Data Movement and Conversion Instructions:
/// shfl.sync").
void exchange(const Lanes& lanes);

/// Performs vote.sync.ballot: bit l of every lane's result is lane l's predicate.
void vote(const Lanes& lanes);

/// Performs mma.sync: adds A B to the warp's accumulators, as tensor_sum.h does (for s8 exactly). Returns the
/// number of multiplications and additions.
double multiply(const Lanes& lanes);

}  // namespace lehr::emulator
