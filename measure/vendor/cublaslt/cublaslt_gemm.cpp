// Types and orders. Numbers of enumerators are taken from library_types.h (cudaDataType) and cublas_api.h
// (cublasComputeType_t) of CUDA 13.0. They are the same in CUDA 12.
#include "measure/vendor/cublaslt/cublaslt_gemm.h"

#include <optional>

#include "base/error.h"
#include "base/small_float.h"

namespace lehr::cublaslt {
namespace {

constexpr int kCompute16F = 64;          // CUBLAS_COMPUTE_16F
constexpr int kCompute32F = 68;          // CUBLAS_COMPUTE_32F: no TF32
constexpr int kCompute64F = 70;          // CUBLAS_COMPUTE_64F
constexpr int kCompute32I = 72;          // CUBLAS_COMPUTE_32I
constexpr int kCompute32FFastTf32 = 77;  // CUBLAS_COMPUTE_32F_FAST_TF32

constexpr int kR8I = 3;      // CUDA_R_8I
constexpr int kR8E4M3 = 28;  // CUDA_R_8F_E4M3
constexpr int kR8E5M2 = 29;  // CUDA_R_8F_E5M2

/// Returns cudaDataType; nullopt if the library does not take operands of this type.
std::optional<int> data_type(DType type) {
  switch (type) {
    case DType::kF64:
      return 1;  // CUDA_R_64F
    case DType::kF32:
      return 0;  // CUDA_R_32F
    case DType::kF16:
      return 2;  // CUDA_R_16F
    case DType::kBF16:
      return 14;  // CUDA_R_16BF
    case DType::kS32:
      return 10;  // CUDA_R_32I
    case DType::kS8:
      return kR8I;
    case DType::kE4M3:
      return kR8E4M3;
    case DType::kE5M2:
      return kR8E5M2;
    default:
      return std::nullopt;
  }
}

bool is_fp8(int type) {
  return type == kR8E4M3 || type == kR8E5M2;
}

int compute_type(const Gemm& gemm) {
  switch (gemm.accum) {
    case DType::kF32:
      // 3xTF32 does not permit plain TF32, since its errors are as small as those of f32.
      return gemm.math == Math::kTf32 ? kCompute32FFastTf32 : kCompute32F;
    case DType::kF64:
      return kCompute64F;
    case DType::kS32:
      return kCompute32I;
    case DType::kF16:
      return kCompute16F;
    default:
      throw_user("cublaslt has no call that accumulates in {}", name_of(gemm.accum));
  }
}

/// Returns the declaration of a `rows` x `columns` operand in the order of the call. The operand is stored by
/// rows or by columns. Sets `transposed` if the two orders differ.
LtMatrix declared(DType type, std::int64_t rows, std::int64_t columns, bool stored_by_rows, bool row_order,
                  bool& transposed) {
  transposed = stored_by_rows != row_order;
  LtMatrix matrix;
  matrix.type = data_type(type).value();
  matrix.rows = transposed ? columns : rows;
  matrix.columns = transposed ? rows : columns;
  matrix.leading = row_order ? matrix.columns : matrix.rows;
  matrix.stride = rows * columns;
  return matrix;
}

}  // namespace

LtGemm lt_gemm(const Workload& workload, bool row_order) {
  const Gemm* gemm = std::get_if<Gemm>(&workload.problem);
  if (gemm == nullptr || !workload.epilogue.empty())
    throw_user("cublaslt has no call that computes this problem");
  const Gemm& g = *gemm;
  for (const DType type : {g.a.type, g.b.type, g.c.type})
    if (!data_type(type)) throw_user("cublaslt has no call for {} operands", name_of(type));
  if (g.accum == DType::kF16 && rounded_to(DType::kF16, g.alpha) != g.alpha)
    throw_user("cublaslt would round alpha={} to the type of the sums, f16", g.alpha);
  const bool a_rows = g.a.layout == Layout::kRow, b_rows = g.b.layout == Layout::kRow,
             c_rows = g.c.layout == Layout::kRow;

  LtGemm call;
  call.row_order = row_order;
  call.swapped = c_rows != row_order;
  call.batch = g.batch;
  call.compute = compute_type(g);
  call.scale = data_type(g.accum).value();
  call.alpha = g.alpha;
  call.fast_accumulation = g.math != Math::kTwoLevel && is_fp8(data_type(g.a.type).value());
  bool transposed_d = false;  // stays false: the order of the operands was chosen so that D is not transposed
  if (call.swapped) {
    // Declares B^T (n x k) and A^T (k x m), whose rows are the columns of B and A.
    call.first = declared(g.b.type, g.n, g.k, !b_rows, row_order, call.transpose_first);
    call.second = declared(g.a.type, g.k, g.m, !a_rows, row_order, call.transpose_second);
    call.d = declared(g.c.type, g.n, g.m, !c_rows, row_order, transposed_d);
  } else {
    call.first = declared(g.a.type, g.m, g.k, a_rows, row_order, call.transpose_first);
    call.second = declared(g.b.type, g.k, g.n, b_rows, row_order, call.transpose_second);
    call.d = declared(g.c.type, g.m, g.n, c_rows, row_order, transposed_d);
  }
  CHECK(!transposed_d);
  return call;
}

const char* lt_rule(const LtGemm& gemm) {
  // cuBLAS 13.0 manual, cublasLtMatmul(), "To use IMMA kernels".
  if (gemm.first.type == kR8I)
    return "it multiplies s8 only with row-major A and column-major B, and with k and the contiguous extent "
           "of "
           "C multiples of 4";
  // The same section, "To use FP8 kernels".
  if (is_fp8(gemm.first.type))
    return "it multiplies 8-bit floats only with row-major A and column-major B, not e5m2 by e5m2, and with "
           "k "
           "and the contiguous extent of C multiples of 16 bytes";
  return "";
}

}  // namespace lehr::cublaslt
