// A kernel that computes the expected outputs of a workload in f64, for devices with grids of blocks. It is
// as plain as possible, and is emitted in the same way as the candidates.
#pragma once

#include <cstdint>
#include <optional>

#include "base/limits.h"
#include "ir/kernel.h"
#include "workload/workload.h"

namespace lehr {

/// A kernel that computes a workload's expected outputs on the device. Its parameters are: the tensors of
/// tensors_of() without the output, in their order and types; `expected`, in f32, with one element for each
/// element of the output; and `bands`, in s32. A launch computes only the bands bands[blockIdx.y], and leaves
/// all other elements unchanged. It may have any number of blocks along y (at most 65535). Sums, scale and
/// epilogue are in f64, and the result is rounded once.
///
/// A band consists of rows of the output with all columns (or channels): rows of the matrices of a GEMM's
/// batch, or pixels of the images of a convolution. With b = bands / batch, band i begins at row first = i %
/// b * band_rows of matrix i / b, and has band_rows rows, or fewer at the end of the matrix.
struct PlainKernel {
  ir::Kernel kernel;
  std::int64_t band_rows = 0;
  std::int64_t bands = 0;
};

/// Returns the kernel. It adds the products in the order of k, each computed from the operands' exact values.
/// Returns nullopt if the device has no grids of blocks or cannot convert the types, or if 32-bit indices
/// cannot reach the padding.
std::optional<PlainKernel> plain_kernel(const Workload& workload, const Limits& limits);

}  // namespace lehr
