// Random workloads with realistic sizes: those of published networks and libraries' benchmarks, and sizes
// between them.
#pragma once

#include <optional>

#include "base/rng.h"
#include "workload/workload.h"

namespace lehr::testing {

/// Bounds of the draw. Everything else in a workload is random.
struct Ordinary {
  /// Type of the operands, or of the first operand if they differ: f32 (with strict math), bf16, u8 or s8.
  /// nullopt: any type.
  std::optional<DType> type = std::nullopt;
  double most_flops = 1e18;  ///< maximum operations of a workload; a larger workload is drawn again
  double most_bytes = 1e18;  ///< maximum bytes of all tensors of a workload together
  double share_of_gemm = 0.35;
  double share_of_epilogues = 0.5;
  /// Fraction of the GEMMs that are linear layers, whose weights are constant.
  double share_of_constant_b = 0.25;
};

/// Draws a valid workload: a GEMM with extents to 262 144, batches, every layout; or a convolution with
/// images to 4 096, channels to 2 048, filters to 11, strides, dilation, groups (depthwise, too), uneven
/// padding, both layouts. The same generator state gives the same workload on every machine.
Workload ordinary_workload(Rng& rng, const Ordinary& kind = {});

}  // namespace lehr::testing
