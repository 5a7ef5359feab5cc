// What a candidate is run on: inputs, the expected output, and how exact it must be.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/dtype.h"

namespace lehr {

/// One argument of the kernel. Inputs carry their bytes; outputs are poisoned by the runner before every checked run.
struct ProblemTensor {
  DType type = DType::kF32;
  std::int64_t elements = 0;
  bool output = false;
  std::vector<float> values;  ///< inputs: one f32 per element (exactly representable in `type`); outputs: empty
};

/// The GEMM in a vendor library's terms: row-major C (m x n) = op(A) op(B), `batch` times over contiguous matrices.
struct BaselineGemm {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  bool transpose_a = false, transpose_b = false;  ///< stored column-major
  bool c_column_major = false;
  DType accum = DType::kF32;
  bool tf32 = false;  ///< f32 operands may be rounded to TF32 (3xTF32 is no such permission: its errors are f32's)
};

struct Problem {
  std::optional<BaselineGemm> gemm;     ///< what a baseline library is asked to compute; nullopt: it has no such call
  std::vector<ProblemTensor> tensors;   ///< in argument order; exactly one output
  std::vector<std::int64_t> indices;    ///< flat output elements that `expected` holds; empty: all
  std::vector<float> expected;
  double tolerance = 0;                 ///< of each element's sum, absolute; its rounding to 16 bits comes on top (check.h)
};

}  // namespace lehr
