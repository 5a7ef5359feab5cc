// What is asked for: operator, shapes, types, layouts. One canonical text, which is the key in the database.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "workload/conv2d.h"
#include "workload/epilogue.h"
#include "workload/gemm.h"

namespace lehr {

enum class Operator { kGemm, kConv2d };

struct Workload {
  std::variant<Gemm, Conv2d> problem;
  Epilogue epilogue;
  Operator op() const {
    return std::holds_alternative<Conv2d>(problem) ? Operator::kConv2d : Operator::kGemm;
  }
  /// Only where op() says so: std::bad_variant_access otherwise.
  const Gemm& gemm() const { return std::get<Gemm>(problem); }
  Gemm& gemm() { return std::get<Gemm>(problem); }
  const Conv2d& conv2d() const { return std::get<Conv2d>(problem); }
  Conv2d& conv2d() { return std::get<Conv2d>(problem); }
  friend bool operator==(const Workload&, const Workload&) = default;
};

/// Throws Error(kUser), one sentence, for what gemm.h and conv2d.h say, for an epilogue where the sums or the
/// output are integers, for a gated one of anything but a GEMM with an even n and a row-major C, and for a
/// pool of anything but a convolution whose output has room for a window.
void validate(const Workload& workload);

/// The problem's text (gemm.h, conv2d.h) and " epilogue=none" (epilogue.h); behind it " math=tf32" where the
/// math is not strict (math_mode.h).
std::string to_text(const Workload& workload);
/// Inverse of to_text; keys may come in any order, those with a default may be missing. Throws Error(kUser).
Workload parse_workload(std::string_view text);
/// Type of the sums, in which the epilogue is computed too.
DType accum_of(const Workload& workload);
Math math_of(const Workload& workload);
/// Multiplications and additions, without those of the epilogue: 2 m n k batch, or 2 n k out_h out_w
/// products() with padding counted (as everybody counts them).
double flops_of(const Workload& workload);
/// Columns of a GEMM's C: n, or half of it behind a gate.
std::int64_t output_columns(const Workload& workload);
/// Height and width of a convolution's output, behind a pool.
struct ImageSize {
  std::int64_t height = 0, width = 0;
};
ImageSize output_size(const Workload& workload);
/// The convolution, cropped at the right and at the bottom to what the windows of a pool take: its out_h() and
/// out_w() are multiples of the window. The padding there may be negative.
Conv2d pooled_part(const Workload& workload);
/// Bytes that must cross the memory interface at least once: all tensors.
double min_bytes_of(const Workload& workload);

/// A tensor of the workload, in argument order: a, b, c; or x (input), f (filter), y (output); then the
/// operands of the epilogue, of the output's type.
struct TensorSpec {
  std::string name;
  DType type = DType::kF32;
  std::int64_t elements = 0;
  bool output = false;
};
std::vector<TensorSpec> tensors_of(const Workload& workload);

}  // namespace lehr
