// Fragment layouts are those of the PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type",
// "... mma.m16n8k8" (.tf32) and "... mma.m16n8k32" (8 bits). With p elements in a 32-bit register (2, 1, 4),
// g = lane / 4 and t = lane % 4, all three say: element j of a[r] is A[g + 8 (r % 2)][t p + j + 4 p (r / 2)],
// element j of b[r] is B[t p + j + 4 p r][g], c[r] is C[g + 8 (r / 2)][2 t + r % 2].
#include "warp.h"

#include <array>
#include <bit>
#include <vector>

#include "number.h"
#include "tensor_sum.h"

namespace lehr::emulator {
namespace {

constexpr int kRows = 16;
constexpr int kColumns = 8;

}  // namespace

int bits_of(EmulatedMma type) {
  switch (type) {
    case EmulatedMma::kBF16:
    case EmulatedMma::kF16:
    case EmulatedMma::kF16HalfK:
      return 16;
    case EmulatedMma::kTF32:
      return 32;
    case EmulatedMma::kS8:
    case EmulatedMma::kE4M3:
    case EmulatedMma::kE5M2:
      return 8;
  }
  return 0;
}

const TensorAdder& adder_of(EmulatedMma type) {
  return type == EmulatedMma::kE4M3 || type == EmulatedMma::kE5M2 ? kAdderOf8BitFloats : kAdder;
}

namespace {

/// Returns the values of all bit patterns of a format of at most 16 bits: decoding each element of each mma
/// by the definition would be too slow.
std::vector<float> all_values(const NumberFormat& format) {
  std::vector<float> values;
  const std::uint32_t count = 2U << (format.exponent_bits + format.fraction_bits);
  for (std::uint32_t bits = 0; bits < count; ++bits) values.push_back(decode(format, bits));
  return values;
}

}  // namespace

float value_of(EmulatedMma type, std::uint32_t bits) {
  static const std::vector<float> f16 = all_values(kF16);
  static const std::vector<float> e4m3 = all_values(kE4M3);
  static const std::vector<float> e5m2 = all_values(kE5M2);
  switch (type) {
    case EmulatedMma::kBF16:
      return std::bit_cast<float>(bits << 16);
    case EmulatedMma::kF16:
    case EmulatedMma::kF16HalfK:
      return f16[bits];
    case EmulatedMma::kTF32:
      return truncate_to_tf32(bits);
    case EmulatedMma::kS8:
      return static_cast<float>(static_cast<std::int8_t>(bits));
    case EmulatedMma::kE4M3:
      return e4m3[bits];
    case EmulatedMma::kE5M2:
      return e5m2[bits];
  }
  return 0;
}

namespace {

/// Returns element `j` of the register, the lowest first.
float element(EmulatedMma type, std::uint32_t bits, int j) {
  const int width = bits_of(type);
  if (width == 32) return value_of(type, bits);
  return value_of(type, bits >> (j * width) & ((1U << width) - 1));
}

/// The position, in a matrix of ldmatrix, of element (lane, half). PTX ISA, "ldmatrix": lane l holds elements
/// 2 (l % 4) and 2 (l % 4) + 1 of row l / 4, or of column l / 4 with .trans.
struct Place {
  std::size_t row, column;
};
Place place_of(int lane, int half, bool transposed) {
  const auto along = static_cast<std::size_t>(2 * (lane % 4) + half);
  const auto across = static_cast<std::size_t>(lane / 4);
  return transposed ? Place{along, across} : Place{across, along};
}

}  // namespace

const char* name_of(Collective what) {
  switch (what) {
    case Collective::kBarrier:
      return "warp barrier";
    case Collective::kShuffle:
      return "shfl";
    case Collective::kUniform:
      return "shfl of what all lanes have";
    case Collective::kVote:
      return "vote";
    case Collective::kLoadMatrix:
      return "ldmatrix";
    case Collective::kStoreMatrix:
      return "stmatrix";
    case Collective::kMma:
      return "mma";
    case Collective::kWgmmaWait:
      return "wgmma.wait_group";
  }
  return "";
}

bool same_instruction(const WarpCall& a, const WarpCall& b) {
  return a.what == b.what && a.line == b.line && a.count == b.count && a.transposed == b.transposed &&
         a.type == b.type;
}

void distribute(const Lanes& lanes, int matrix, const Matrix8x8& from) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const WarpCall& call = *lanes[static_cast<std::size_t>(lane)];
    std::uint32_t bits = 0;
    for (int half = 0; half < 2; ++half) {
      const Place place = place_of(lane, half, call.transposed);
      bits |= static_cast<std::uint32_t>(from[place.row][place.column]) << (16 * half);
    }
    call.out[matrix] = bits;
  }
}

Matrix8x8 collect(const Lanes& lanes, int matrix) {
  Matrix8x8 to{};
  for (int lane = 0; lane < kLanes; ++lane) {
    const WarpCall& call = *lanes[static_cast<std::size_t>(lane)];
    for (int half = 0; half < 2; ++half) {
      const Place place = place_of(lane, half, call.transposed);
      to[place.row][place.column] = static_cast<std::uint16_t>(call.a[matrix] >> (16 * half));
    }
  }
  return to;
}

void exchange(const Lanes& lanes) {
  std::array<std::uint32_t, kLanes> values{};
  for (std::size_t lane = 0; lane < kLanes; ++lane) values[lane] = *lanes[lane]->a;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const WarpCall& call = *lanes[lane];
    const std::size_t from = lane ^ static_cast<std::size_t>(call.lane_mask);
    // If the source is beyond the end of the lane's group, the lane gets its own value.
    const auto width = static_cast<std::size_t>(call.count);
    const std::size_t last = lane / width * width + width - 1;
    *call.out = values[from <= last ? from : lane];
  }
}

void vote(const Lanes& lanes) {
  std::uint32_t votes = 0;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) votes |= *lanes[lane]->a << lane;
  for (WarpCall* lane : lanes) *lane->out = votes;
}

namespace {

/// The operands of the whole warp, and the accumulators: A by rows, B by k.
struct WarpMatrices {
  int depth = 0;
  float a[kRows][32];
  float b[32][kColumns];
};

WarpMatrices matrices_of(const Lanes& lanes) {
  const EmulatedMma type = lanes[0]->type;
  const int packed = 32 / bits_of(type);
  // With half of k, the registers of the other half are missing.
  const int parts = type == EmulatedMma::kF16HalfK ? 1 : 2;
  WarpMatrices all;
  all.depth = 4 * packed * parts;
  for (int lane = 0; lane < kLanes; ++lane) {
    const WarpCall& call = *lanes[static_cast<std::size_t>(lane)];
    const int g = lane / 4;
    const int t = lane % 4;
    for (int j = 0; j < packed; ++j) {
      for (int r = 0; r < 2 * parts; ++r)
        all.a[g + 8 * (r % 2)][t * packed + j + 4 * packed * (r / 2)] = element(type, call.a[r], j);
      for (int r = 0; r < parts; ++r) all.b[t * packed + j + 4 * packed * r][g] = element(type, call.b[r], j);
    }
  }
  return all;
}

/// Returns `sum` + row * column. It wraps around, as without .satfinite.
std::uint32_t integer_sum(const WarpMatrices& all, int row, int column, std::uint32_t sum) {
  for (int k = 0; k < all.depth; ++k)
    sum += static_cast<std::uint32_t>(static_cast<std::int32_t>(all.a[row][k] * all.b[k][column]));
  return sum;
}

/// Return the row and the column of the accumulator in register `r` of a lane.
int row_of(int lane, int r) {
  return lane / 4 + 8 * (r / 2);
}
int column_of(int lane, int r) {
  return 2 * (lane % 4) + r % 2;
}

}  // namespace

double multiply(const Lanes& lanes) {
  const EmulatedMma type = lanes[0]->type;
  const WarpMatrices all = matrices_of(lanes);
  std::uint32_t* place[kRows][kColumns];
  for (int lane = 0; lane < kLanes; ++lane)
    for (int r = 0; r < 4; ++r)
      place[row_of(lane, r)][column_of(lane, r)] = lanes[static_cast<std::size_t>(lane)]->out + r;
  for (int m = 0; m < kRows; ++m) {
    if (type == EmulatedMma::kS8) {
      for (int n = 0; n < kColumns; ++n) *place[m][n] = integer_sum(all, m, n, *place[m][n]);
      continue;
    }
    float sums[kColumns];
    for (int n = 0; n < kColumns; ++n) sums[n] = std::bit_cast<float>(*place[m][n]);
    add_products(adder_of(type), {all.a[m], static_cast<std::size_t>(all.depth)}, all.b[0], kColumns, sums);
    for (int n = 0; n < kColumns; ++n) *place[m][n] = std::bit_cast<std::uint32_t>(sums[n]);
  }
  return 2.0 * kRows * kColumns * all.depth;
}

}  // namespace lehr::emulator
