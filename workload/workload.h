// The computation that kernels are made for: operator, shapes, types, layouts. Its canonical text is the key
// in the database.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "workload/conv2d/conv2d.h"
#include "workload/epilogue.h"
#include "workload/gemm/gemm.h"
#include "workload/rowwise/rowwise.h"
#include "workload/tensor.h"

namespace lehr {

/// In the order of Workload::problem's alternatives.
enum class Operator { kGemm, kConv2d, kRowwise };

struct Workload {
  std::variant<Gemm, Conv2d, Rowwise> problem;
  Epilogue epilogue;
  Operator op() const { return static_cast<Operator>(problem.index()); }
  /// May be called only for the operator of op(); throws std::bad_variant_access otherwise.
  const Gemm& gemm() const { return std::get<Gemm>(problem); }
  Gemm& gemm() { return std::get<Gemm>(problem); }
  const Conv2d& conv2d() const { return std::get<Conv2d>(problem); }
  Conv2d& conv2d() { return std::get<Conv2d>(problem); }
  const Rowwise& rowwise() const { return std::get<Rowwise>(problem); }
  Rowwise& rowwise() { return std::get<Rowwise>(problem); }
  friend bool operator==(const Workload&, const Workload&) = default;
};

/// Throws Error(kUser), one sentence, for a size out of range, an empty output, a tensor of 2^31 elements or
/// more, or a math mode that does not fit the types. Also throws it for an epilogue that does not fit: an
/// epilogue on integer sums or outputs without a dequant (except a single bias in s32); a dequant or quant
/// for other types; a gate, unless the operator is a GEMM with an even n and a row-major C; a pool, unless
/// the operator is a convolution whose output has room for a window.
void validate(const Workload& workload);

/// Returns the operator's fields (operator.h) in the order of its table, followed by the fields that were
/// added later if they have unusual values: "gemm m=512 n=512 k=512 batch=1 a=f32:row b=f32:row c=f32:row
/// accum=f32 epilogue=none", "conv2d n=1 h=56 w=56 c=64 k=64 r=3 s=3 stride=1x1 pad=1x1x1x1 dilation=1x1
/// groups=1 layout=nchw x=f32 f=f32 y=f32 accum=f32 epilogue=bias+relu math=tf32".
std::string to_text(const Workload& workload);
/// Parses what to_text writes. Keys may come in any order; those with a default may be missing. Throws
/// Error(kUser).
Workload parse_workload(std::string_view text);
/// Returns the distance of two workloads, for applying to one of them what was learnt about the other. It
/// adds up: powers of two between sizes; 4 for each tensor with another type or layout, and for sums with
/// another type or math; 1/2 for another epilogue or scale (field.h). It is 32 between different operators.
double distance(const Workload& a, const Workload& b);
/// Returns the sums from which elements of the output are computed, and how exact they are.
ProductSums sums_of(const Workload& workload);
/// Returns the type of the sums, in which the epilogue is computed, too.
DType accum_of(const Workload& workload);
Math math_of(const Workload& workload);
ZeroPoint zero_of(const Workload& workload);
/// Returns the number of multiplications and additions, without those of a scale and of the epilogue: 2 m n k
/// batch, or 2 n k out_h out_w products(). Products with padding count, as is usual.
double flops_of(const Workload& workload);
/// The number of rows of a product as its text states it: "m=64", "m=..64 rows=24", "m=16..64".
struct CallRows {
  std::int64_t most = 0;    ///< maximum number of rows; 0: calls of the operator have no rows
  bool any = false;         ///< whether a call may have any number of rows up to `most`
  std::int64_t called = 0;  ///< rows of the described call; 0: `most`
  std::int64_t least = 0;   ///< minimum number of rows of a range; 0: not a range
  bool open = false;        ///< whether calls may have more than `most` rows, for which kernels are tuned
  std::int64_t of_call() const { return called > 0 ? called : most; }
};
CallRows call_rows(const Workload& workload);
/// Returns the workload with these rows. The operator's calls must have rows.
Workload with_call_rows(Workload workload, const CallRows& rows);
/// Returns the rows of the described call; 0 if calls have no rows.
std::int64_t rows_of(const Workload& workload);
/// Returns whether the workload is a range of rows ("gemm m=1..2048 ..."), which has no kernels of its own.
bool is_range(const Workload& workload);
/// Returns the workload for a call of a range's kernels with `rows` rows: "gemm m=..2048 rows=24 ...".
Workload call_of(const Workload& range, std::int64_t rows);
/// Returns the workload of a range's kernels, which take any number of rows up to the range's maximum.
/// Returns other workloads unchanged.
Workload kernels_of(const Workload& workload);
/// Returns the same product with exactly `rows` rows, to be checked, timed, and computed by a library.
Workload with_rows(const Workload& workload, std::int64_t rows);
/// Returns the workload whose kernels compute a call: "m=..64" for "m=..64 rows=24". Returns other workloads
/// unchanged.
Workload of_any_call(Workload workload);
/// Returns the workload with the number of rows of its call. Returns a workload with fixed rows unchanged.
Workload fixed_rows(const Workload& workload);
/// Returns the minimum number of bytes that cross the memory interface: the size of all tensors.
double min_bytes_of(const Workload& workload);

/// Returns the tensors in argument order.
std::vector<TensorSpec> tensors_of(const Workload& workload);

}  // namespace lehr
