// The canonical layouts follow PTX ISA 9.0, "Strides" and "Shared Memory Matrix Layout" of wgmma. Along k, a
// pattern is eight rows of one swizzle span each, and the next pattern is SBO bytes away (without swizzle the
// rows have 16 bytes, and the second half of k is LBO bytes away). Along m or n, a pattern has eight values
// of k; the next pattern along m or n is LBO bytes away, and the next along k is SBO bytes away (without
// swizzle LBO and SBO are exchanged).
#include "wgmma.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "tensor_sum.h"
#include "warp.h"

namespace lehr::emulator {
namespace {

constexpr int kChunk = 16;
constexpr int kPatternRows = 8;

/// Returns the operand's values as [row or column][k].
std::vector<float> values_of(const WgmmaOperand& operand, const std::vector<std::uint32_t>& chunks,
                             int across, EmulatedMma type,
                             const std::function<const unsigned char*(std::uint32_t)>& memory) {
  const int bits = bits_of(type);
  const int depth = kOperandRowBytes * 8 / bits;
  const int per_chunk = kChunk * 8 / bits;
  std::vector<float> values(static_cast<std::size_t>(across * depth));
  const auto put = [&](int x, int k, float value) {
    values[static_cast<std::size_t>(x * depth + k)] = value;
  };
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    const unsigned char* bytes = memory(chunks[c]);
    for (int e = 0; e < per_chunk; ++e) {
      std::uint32_t pattern = 0;
      std::memcpy(&pattern, bytes + e * bits / 8, static_cast<std::size_t>(bits / 8));
      const float value = value_of(type, pattern);
      const int number = static_cast<int>(c);
      if (operand.along_k) {
        put(number / 2, number % 2 * per_chunk + e, value);
      } else {
        const int line = across / per_chunk;
        put(number % line * per_chunk + e, number / line, value);
      }
    }
  }
  return values;
}

/// Returns the values of an A in 32-bit registers, in the same order.
std::vector<float> values_of_registers(const std::vector<std::uint32_t>& registers, EmulatedMma type) {
  const int depth = kOperandRowBytes * 8 / bits_of(type);
  std::vector<float> values(registers.size());
  for (std::size_t i = 0; i < registers.size(); ++i) {
    const int thread = static_cast<int>(i) / kFragmentRegisters;
    const WgmmaPlace place = place_of_a(thread, static_cast<int>(i) % kFragmentRegisters);
    values[static_cast<std::size_t>(place.row * depth + place.column)] = value_of(type, registers[i]);
  }
  return values;
}

/// Adds the products of `a` [64][depth] and `b` [depth][columns].
void add_floats(const Wgmma& op, const std::vector<float>& a, const std::vector<float>& b,
                std::vector<std::uint32_t>& sums) {
  const auto columns = static_cast<std::size_t>(op.columns);
  const std::size_t depth = a.size() / kWgmmaRows;
  for (std::size_t m = 0; m < kWgmmaRows; ++m) {
    const std::span<const float> row = std::span(a).subspan(m * depth, depth);
    for (std::size_t n = 0; n < columns; n += kSumColumns) {
      std::uint32_t* bits = sums.data() + m * columns + n;
      std::array<float, kSumColumns> some{};
      if (op.add) std::memcpy(some.data(), bits, sizeof some);
      add_products(adder_of(op.type), row, b.data() + n, columns, some.data());
      std::memcpy(bits, some.data(), sizeof some);
    }
  }
}

void add_integers(const Wgmma& op, const std::vector<float>& a, const std::vector<float>& b,
                  std::vector<std::uint32_t>& sums) {
  const auto columns = static_cast<std::size_t>(op.columns);
  const std::size_t depth = a.size() / kWgmmaRows;
  if (!op.add) std::ranges::fill(sums, 0);
  for (std::size_t m = 0; m < kWgmmaRows; ++m) {
    for (std::size_t k = 0; k < depth; ++k) {
      for (std::size_t n = 0; n < columns; ++n)
        sums[m * columns + n] +=
            static_cast<std::uint32_t>(static_cast<std::int32_t>(a[m * depth + k] * b[k * columns + n]));
    }
  }
}

}  // namespace

std::uint32_t swizzled(std::uint32_t address, int span) {
  if (span == 0) return address;
  const std::uint32_t mask = static_cast<std::uint32_t>(span / kChunk - 1);
  return address ^ ((address >> 7 & mask) << 4);
}

MatrixDescriptor decoded(std::uint64_t bits) {
  const auto field = [&](int first) { return static_cast<std::uint32_t>(bits >> first & 0x3FFF) << 4; };
  constexpr int kSpans[] = {0, 128, 64, 32};
  return {field(0), field(16), field(32), kSpans[bits >> 62]};
}

std::vector<std::uint32_t> chunks_of(const MatrixDescriptor& m, int across, bool along_k) {
  std::vector<std::uint32_t> chunks;
  chunks.reserve(
      static_cast<std::size_t>(2 * across));  // 32 bytes of k in every row, or 16 values of 2 bytes
  const auto add = [&](int pattern_leading, int pattern_stride, int inside) {
    const std::uint32_t linear = m.start + static_cast<std::uint32_t>(pattern_leading) * m.leading +
                                 static_cast<std::uint32_t>(pattern_stride) * m.stride +
                                 static_cast<std::uint32_t>(inside);
    chunks.push_back(swizzled(linear, m.swizzle));
  };
  if (along_k) {
    for (int row = 0; row < across; ++row) {
      for (int half = 0; half < 2; ++half) {
        if (m.swizzle == 0) {
          add(half, row / kPatternRows, row % kPatternRows * kChunk);
        } else {
          add(0, row / kPatternRows, row % kPatternRows * m.swizzle + half * kChunk);
        }
      }
    }
    return chunks;
  }
  constexpr int kDepth = 16;  // for 16-bit types; only these may have this layout
  const int elements = kChunk / 2;
  for (int k = 0; k < kDepth; ++k) {
    for (int c = 0; c < across / elements; ++c) {
      if (m.swizzle == 0) {
        add(k / kPatternRows, c, k % kPatternRows * kChunk);
      } else {
        const int per_pattern = m.swizzle / kChunk;
        add(c / per_pattern, k / kPatternRows, k % kPatternRows * m.swizzle + c % per_pattern * kChunk);
      }
    }
  }
  return chunks;
}

WgmmaPlace place_of_sum(int thread, int index) {
  const int lane = thread % kLanes;
  return {thread / kLanes * 16 + lane / 4 + index / 2 % 2 * 8, index / 4 * 8 + lane % 4 * 2 + index % 2};
}

WgmmaPlace place_of_a(int thread, int index) {
  const int lane = thread % kLanes;
  return {thread / kLanes * 16 + lane / 4 + index % 2 * 8, lane % 4 + index / 2 * 4};
}

void multiply(const Wgmma& op, const std::vector<std::uint32_t>& registers,
              const std::function<const unsigned char*(std::uint32_t)>& memory,
              std::vector<std::uint32_t>& sums) {
  const std::vector<float> a = op.a_in_registers
                                   ? values_of_registers(registers, op.type)
                                   : values_of(op.a, op.chunks_of_a(), kWgmmaRows, op.type, memory);
  const std::vector<float> b = values_of(op.b, op.chunks_of_b(), op.columns, op.type, memory);
  const auto columns = static_cast<std::size_t>(op.columns);
  const std::size_t depth = a.size() / kWgmmaRows;
  std::vector<float> b_by_k(b.size());
  for (std::size_t n = 0; n < columns; ++n)
    for (std::size_t k = 0; k < depth; ++k) b_by_k[k * columns + n] = b[n * depth + k];
  if (op.type == EmulatedMma::kS8) return add_integers(op, a, b_by_k, sums);
  add_floats(op, a, b_by_k, sums);
}

}  // namespace lehr::emulator
