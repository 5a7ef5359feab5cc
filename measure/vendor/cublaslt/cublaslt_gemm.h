// Translates a GEMM to cuBLASLt's terms, without the library.
#pragma once

#include <cstdint>

#include "workload/workload.h"

namespace lehr::cublaslt {

/// A matrix in memory, before op. `leading` is the distance in elements from one column to the next, or from
/// one row to the next if LtGemm::row_order is set.
struct LtMatrix {
  int type = 0;  ///< cudaDataType
  std::int64_t rows = 0, columns = 0, leading = 0;
  std::int64_t stride = 0;  ///< elements from one matrix of the batch to the next
  friend bool operator==(const LtMatrix&, const LtMatrix&) = default;
};

/// D = alpha op(first) op(second), `batch` times; op transposes if the flag is set.
struct LtGemm {
  LtMatrix first, second, d;
  bool transpose_first = false, transpose_second = false;
  bool swapped = false;    ///< whether `first` is the problem's B, `second` its A, and D is C^T
  bool row_order = false;  ///< whether all three have CUBLASLT_ORDER_ROW; if false, CUBLASLT_ORDER_COL
  std::int64_t batch = 1;
  int compute = 0;  ///< cublasComputeType_t
  int scale = 0;    ///< cudaDataType of alpha and beta
  float alpha = 1;  ///< a value of that type
  /// CUBLASLT_MATMUL_DESC_FAST_ACCUM for fp8: partial sums stay in the tensor core. Without it the library
  /// adds them outside of it from time to time, as our own kernels with two levels of sums do.
  bool fast_accumulation = false;
  friend bool operator==(const LtGemm&, const LtGemm&) = default;
};

/// Translates a GEMM. The library knows one storage order per matrix and a transposition of each operand, so
/// either order of the operands expresses any GEMM: row-major C is column-major C^T = B^T A^T, without a
/// copy. `row_order` chooses how D is declared, and with it which operand comes first. Throws Error(kUser)
/// for a workload that is not a GEMM without epilogue, whose types the library has no call for (it names
/// them), or whose alpha is not a number of their type.
LtGemm lt_gemm(const Workload& workload, bool row_order);

/// Returns the rules of the library's manual for such operands beyond their types, as a clause for "no kernel
/// for this": "cuBLASLt multiplies s8 only with ..."; "" without such rules.
const char* lt_rule(const LtGemm& gemm);

}  // namespace lehr::cublaslt
