// Workloads of gemm_mma's tests.
#pragma once

#include <string>

#include "cuda_cases.h"

namespace lehr::testing {

/// Returns a product with operands of `type`, and sums of the type that goes with it; layouts as in
/// gemm_of().
inline Workload mma_of(DType type, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch,
                       int layouts, Math math = Math::kStrict) {
  Workload workload = gemm_of(m, n, k, batch, layouts);
  Gemm& g = workload.gemm();
  g.a.type = g.b.type = type;
  g.accum = type == DType::kS8 ? DType::kS32 : DType::kF32;
  g.c.type = g.accum;
  g.math = math;
  return workload;
}

/// Returns the same with a 16-bit C.
inline Workload with_output(Workload workload, DType type) {
  workload.gemm().c.type = type;
  return workload;
}

}  // namespace lehr::testing
