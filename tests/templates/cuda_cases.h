// Helpers of the CUDA families' tests: workloads, and broken kernels.
#pragma once

#include <string>

#include "workload/workload.h"

namespace lehr::testing {

/// Returns a product. Of its layout number 0..7, bit 0 stores A by columns, bit 1 B, bit 2 C.
inline Workload gemm_of(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch, int layouts) {
  const auto layout = [&](int bit) { return (layouts >> bit & 1) != 0 ? Layout::kColumn : Layout::kRow; };
  Workload workload;
  workload.gemm().m = m;
  workload.gemm().n = n;
  workload.gemm().k = k;
  workload.gemm().batch = batch;
  workload.gemm().a.layout = layout(0);
  workload.gemm().b.layout = layout(1);
  workload.gemm().c.layout = layout(2);
  return workload;
}

/// Replaces every `what` in `text`, and returns how many there were.
inline int replace_all(std::string& text, const std::string& what, const std::string& instead) {
  int count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + instead.size())) {
    text.replace(at, what.size(), instead);
    ++count;
  }
  return count;
}

}  // namespace lehr::testing
