// How a tensor core adds products to a sum. It is less exact than f32 addition.
#pragma once

#include <cstddef>
#include <span>

namespace lehr::emulator {

/// In one step a sum and several products are added. All are first cut off towards zero at fraction bit
/// `aligned` of the largest one, and then added exactly. The result is cut off towards zero at its own
/// fraction bit `kept`. Nothing is rounded. The magnitude of a product is taken from the exponents of its
/// operands: a product of 1.5 and 1.5 counts like a product of 1 and 1.
struct TensorAdder {
  int aligned = 0;  ///< at most 25
  int kept = 0;     ///< at most 23
};

/// The parameters of Hopper. One step adds 16 products of 16-bit types, 8 of tf32, or 32 of 8-bit floats;
/// that is one instruction of mma.sync or of wgmma. Khattak and Mikaitis, "Accurate Models of NVIDIA Tensor
/// Cores" (arXiv 2512.07004), found them by test vectors and compared the model with H100 and H200 bit by
/// bit. DeepSeek-V3's technical report (section 3.5.2) and SageAttention2 (section 3.2) describe sums of
/// 8-bit floats. In our own measurements (bench/results/gpu/README.md, B) the model gives the same largest
/// errors of 3xTF32 as the hardware.
inline constexpr TensorAdder kAdder{25, 23};
inline constexpr TensorAdder kAdderOf8BitFloats{13, 13};

/// Number of columns that are computed together.
inline constexpr std::size_t kSumColumns = 8;

/// Performs one step: sums[n] += the sum of a[k] b[k * stride + n] over k, for each n below kSumColumns.
/// There are at most 32 products. If one of the values is not finite, the step is computed in f32.
void add_products(const TensorAdder& adder, std::span<const float> a, const float* b, std::size_t stride,
                  float* sums);

}  // namespace lehr::emulator
