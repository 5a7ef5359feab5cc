// Translates a GEMM to cuBLASLt's parameters, without calling the library.
#pragma once

#include <cstdint>

#include "workload/workload.h"

namespace lehr::cublaslt {

/// A matrix in memory, before op. `leading` is the distance in elements between neighbouring columns, or
/// between neighbouring rows if LtGemm::row_order is set.
struct LtMatrix {
  int type = 0;  ///< cudaDataType
  std::int64_t rows = 0, columns = 0, leading = 0;
  std::int64_t stride = 0;  ///< distance in elements between neighbouring matrices of the batch
  friend bool operator==(const LtMatrix&, const LtMatrix&) = default;
};

/// D = alpha op(first) op(second), `batch` times; op transposes if the flag is set.
struct LtGemm {
  LtMatrix first, second, d;
  bool transpose_first = false, transpose_second = false;
  bool swapped = false;  ///< whether `first` is the problem's B, `second` its A, and D is C^T
  /// Whether all three matrices have CUBLASLT_ORDER_ROW; if false, CUBLASLT_ORDER_COL.
  bool row_order = false;
  std::int64_t batch = 1;
  int compute = 0;  ///< cublasComputeType_t
  int scale = 0;    ///< cudaDataType of alpha and beta
  float alpha = 1;  ///< a value of the type `scale`
  /// CUBLASLT_MATMUL_DESC_FAST_ACCUM for fp8. If true, partial sums stay in the tensor core. If false, the
  /// library adds them up outside of the tensor core from time to time, as our own kernels with two levels of
  /// sums do.
  bool fast_accumulation = false;
  friend bool operator==(const LtGemm&, const LtGemm&) = default;
};

/// Translates a GEMM. The library knows one storage order per matrix and a transposition of each operand. So
/// any GEMM can be expressed with either order of the operands, without a copy: a row-major C is a
/// column-major C^T = B^T A^T. `row_order` chooses how D is declared, and with it which operand comes first.
/// Throws Error(kUser) for a workload that is not a GEMM without epilogue, for types that the library has no
/// call for (the text names them), or if alpha is not a number of the scale type.
LtGemm lt_gemm(const Workload& workload, bool row_order);

/// Returns the rules of the library's manual for operands of these types, as a clause to follow "no kernel
/// for this": "it multiplies s8 only with ...". Returns "" if there are no such rules.
const char* lt_rule(const LtGemm& gemm);

}  // namespace lehr::cublaslt
