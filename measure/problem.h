// What a candidate is run on: inputs, the expected output, and how exact it must be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
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
  bool fast_accumulation = true;  ///< 8-bit floats: sums may stay in the tensor core over all of k
};

/// The convolution in a vendor library's terms: input, filter, output (ProblemTensor order).
struct BaselineConv2d {
  std::int64_t n = 0, c = 0, h = 0, w = 0, k = 0, r = 0, s = 0, groups = 1;
  std::int64_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  std::int64_t pad_top = 0, pad_bottom = 0, pad_left = 0, pad_right = 0;
  std::int64_t out_h = 0, out_w = 0;
  bool nhwc = false;  ///< input and output n,h,w,c and filter k,r,s,c in memory; else n,c,h,w and k,c,r,s
  DType accum = DType::kF32;
  bool tf32 = false;  ///< as BaselineGemm::tf32
  friend bool operator==(const BaselineConv2d&, const BaselineConv2d&) = default;
};

/// One elementwise operation on the sums, in their type, before they are rounded to the output's.
struct BaselineStep {
  enum class Op { kAdd, kMultiply, kClamp, kGeluTanh, kGeluErf, kSilu, kSigmoid, kTanh };
  Op op = Op::kAdd;
  std::size_t tensor = 0;    ///< kAdd, kMultiply: by which of Problem::tensors, which has
  bool per_channel = false;  ///< one element per channel (a GEMM's column), else one per output
  /// kClamp: the bounds; a side without one has the largest finite double. NaN stays.
  double low = std::numeric_limits<double>::lowest(), high = std::numeric_limits<double>::max();
  friend bool operator==(const BaselineStep&, const BaselineStep&) = default;
};

struct Problem {
  std::optional<BaselineGemm> gemm;     ///< what a baseline library is asked to compute; neither this nor
  std::optional<BaselineConv2d> conv2d; ///< this: no library has such a call
  std::vector<BaselineStep> steps;      ///< what follows it; a library that cannot do that must say so
  std::vector<ProblemTensor> tensors;   ///< in argument order: operands, the one output, tensors of `steps`
  std::vector<std::int64_t> indices;    ///< flat output elements that `expected` holds; empty: all
  std::vector<float> expected;
  double tolerance = 0;                 ///< of each element's sum, absolute; its rounding to 16 bits comes on top (check.h)
};

}  // namespace lehr
