// The way in which a tensor core adds products to a sum: less exactly than f32 does.
#pragma once

#include <cstddef>
#include <span>

namespace lehr::emulator {

/// A sum and the products of one step are cut off towards zero at fraction bit `aligned` of the largest of
/// them and added exactly. The result is cut off towards zero at fraction bit `kept` of its own. Nothing is
/// rounded. A product's size comes from its operands' exponents: a product of 1.5 and 1.5 counts as one of 1
/// and 1.
struct TensorAdder {
  int aligned = 0;  ///< at most 25
  int kept = 0;     ///< at most 23
};

/// Hopper's: one step for 16 products of 16 bits, 8 of tf32, 32 of 8-bit floats, which is one instruction of
/// mma.sync and one of wgmma. Khattak and Mikaitis, "Accurate Models of NVIDIA Tensor Cores" (arXiv
/// 2512.07004) found that by test vectors and compared it with H100 and H200 bit by bit. DeepSeek-V3's
/// technical report (section 3.5.2) and SageAttention2 (section 3.2) describe sums of 8-bit floats. In our
/// own measurements (bench/results/gpu/README.md, B) it gives the largest errors of 3xTF32 that silicon had.
inline constexpr TensorAdder kAdder{25, 23};
inline constexpr TensorAdder kAdderOf8BitFloats{13, 13};

/// Columns that are computed together.
inline constexpr std::size_t kSumColumns = 8;

/// Performs one step: sums[n] += the sum of a[k] b[k * stride + n], for each n below kSumColumns. At most 32
/// products. In f32 where one of them is no finite number.
void add_products(const TensorAdder& adder, std::span<const float> a, const float* b, std::size_t stride,
                  float* sums);

}  // namespace lehr::emulator
