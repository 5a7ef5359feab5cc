// Hand-built kernels for the tests of features and models: tiled GEMMs for both targets, with the tiles as
// parameters.
#pragma once

#include "base/limits.h"
#include "costmodel/features.h"
#include "ir/analyze.h"
#include "ir/kernel.h"

namespace lehr::test {

/// Returns a CPU of known caches, so that tests do not depend on the machine.
Limits cpu_test_limits();

struct CpuGemm {
  std::int64_t m = 512, n = 512, k = 512;
  std::int64_t mb = 64, nb = 128, kb = 128;  ///< cache tiles
  std::int64_t mr = 4, nv = 2, lanes = 16;   ///< register tile: rows, vectors, lanes
};
/// Returns C = A B in row-major order, parallel over tiles of rows, sums kept in registers over each kb.
ir::Kernel cpu_gemm(const CpuGemm& shape);

struct CudaGemm {
  std::int64_t m = 1024, n = 1024, k = 1024;
  std::int64_t bm = 64, bn = 64, bk = 16;  ///< block tile
  std::int64_t tm = 4, tn = 4;             ///< thread tile
  std::int64_t vector = 1;                 ///< lanes of the staging loads; divides bk and bn
};
/// Returns C = A B with shared-memory tiles, one thread tile per thread.
ir::Kernel cuda_gemm(const CudaGemm& shape);

/// Returns out[tx] = in[tx * stride]; one block of 32 threads.
ir::Kernel cuda_copy(std::int64_t stride, std::int64_t lanes = 1);

/// Stores to and loads from shared[tx * stride], or with `swizzled` from shared[tx * stride + (tx xor 5)]; 32
/// threads.
ir::Kernel shared_stride(std::int64_t stride, bool swizzled);

/// Returns the value of a column by name.
double feature(const std::vector<float>& row, std::string_view name);
double feature(const ir::Kernel& kernel, const Limits& limits, std::string_view name);
/// Returns the value behind a column that holds log2(1 + value).
double unlog(double column);

}  // namespace lehr::test
