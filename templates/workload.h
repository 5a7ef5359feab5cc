// What is asked for: operator, shapes, types, layouts. One canonical text, which is the key in the database.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "templates/conv2d.h"

namespace lehr {

/// Storage order of a matrix operand. The logical shapes are A m x k, B k x n, C m x n in either case.
enum class Layout { kRow, kColumn };

struct Operand {
  DType type = DType::kF32;
  Layout layout = Layout::kRow;
  friend bool operator==(const Operand&, const Operand&) = default;
};

/// How exact a product of f32 operands must be.
enum class Math {
  kStrict,  ///< every product and sum in f32 or better
  k3xTf32,  ///< three tf32 products of split operands: errors near those of f32
  kTf32     ///< operands may be rounded to tf32 (10 fraction bits)
};
std::string_view name_of(Math math);

/// C[b] = A[b] * B[b] for each of `batch` matrices, contiguous, one after the other.
struct Gemm {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  Operand a, b, c;
  DType accum = DType::kF32;
  Math math = Math::kStrict;  ///< anything else only for f32 operands and sums
  friend bool operator==(const Gemm&, const Gemm&) = default;
};

enum class Operator { kGemm, kConv2d };

struct Workload {
  Gemm gemm;
  std::optional<Conv2d> conv2d;  ///< where it is set, the workload is this and `gemm` means nothing
  Operator op() const { return conv2d ? Operator::kConv2d : Operator::kGemm; }
  friend bool operator==(const Workload&, const Workload&) = default;
};

/// Throws Error(kUser) when a size is not in [1, 2^31), an operand has 2^31 elements or more, or `math` does
/// not go with the types, naming it and the limit.
void validate(const Workload& workload);

/// A conv2d's text is in conv2d.h; a GEMM's:
/// "gemm m=512 n=512 k=512 batch=1 a=f32:row b=f32:row c=f32:row accum=f32 epilogue=none", and " math=tf32"
/// behind it where the math is not strict
std::string to_text(const Workload& workload);
/// Inverse of to_text; keys may come in any order, those with a default may be missing. Throws Error(kUser).
Workload parse_workload(std::string_view text);
/// "strict", "tf32", "3xtf32" -> Math. Throws Error(kUser).
Math parse_math(std::string_view text);
/// "f32:row" -> Operand. Throws Error(kUser).
Operand parse_operand(std::string_view text);
std::string to_text(const Operand& operand);

/// Multiplications and additions: 2 m n k batch, or 2 n k out_h out_w products() with padding counted (as
/// everybody counts them).
double flops_of(const Workload& workload);
/// Bytes that must cross the memory interface at least once: all tensors.
double min_bytes_of(const Workload& workload);

/// A tensor of the workload, in argument order: a, b, c; or x (input), f (filter), y (output).
struct TensorSpec {
  std::string name;
  DType type = DType::kF32;
  std::int64_t elements = 0;
  bool output = false;
};
std::vector<TensorSpec> tensors_of(const Workload& workload);

}  // namespace lehr
