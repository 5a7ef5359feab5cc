// The expected outputs of a workload on a device with grids of blocks, in f64. The kernel is as plain as
// possible, and made in the same way as the candidates.
#pragma once

#include <cstdint>
#include <optional>

#include "base/limits.h"
#include "ir/kernel.h"
#include "workload/workload.h"

namespace lehr {

/// A kernel that computes a workload's expected outputs on the device. Its parameters are the tensors of
/// tensors_of() without the output, in their order and types; `expected`, f32, with an element for each
/// element of the output; and `bands`, s32. A launch of `kernel` with any number of blocks along y (a grid
/// has 65535) computes the bands bands[blockIdx.y] and leaves the other elements as they are. Sums, scale and
/// epilogue are in f64, rounded once.
///
/// Rows are those of all matrices of a GEMM's batch, or the pixels of all images of a convolution's output.
/// Band i is `band_rows` of them, or the rest of their matrix, with all columns or channels: rows [first,
/// first + band_rows) of matrix i / b with first = i % b * band_rows and b = bands / batch.
struct PlainKernel {
  ir::Kernel kernel;
  std::int64_t band_rows = 0;
  std::int64_t bands = 0;
};

/// Returns the kernel. It adds sums in the order of k, each product from the operands' exact values. Returns
/// nullopt if the device has no grids of blocks or cannot convert the types, or padding is beyond 32-bit
/// indices.
std::optional<PlainKernel> plain_kernel(const Workload& workload, const Limits& limits);

}  // namespace lehr
