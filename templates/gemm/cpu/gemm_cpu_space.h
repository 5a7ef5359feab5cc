// The schedules of gemm_cpu: knobs, rules, default.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "space/knobs.h"
#include "templates/shared/cpu_common.h"
#include "templates/shared/dot_form.h"
#include "workload/workload.h"

namespace lehr {

/// The knobs; meanings and units are those of gemm_cpu_knobs(). A knob that a family does not have keeps its
/// value here.
struct GemmCpuSchedule {
  std::int64_t threads = 1;
  std::int64_t split = 0;  ///< 0: rows over the threads, 1: columns, 2: batch (one work item per matrix)
  std::int64_t lanes = 16;
  std::int64_t mr = 1;                  ///< rows of the micro-kernel
  std::int64_t nv = 1;                  ///< vectors of the micro-kernel
  std::int64_t kc = 1;                  ///< k per block
  std::int64_t mc = 1;                  ///< tiles of rows per block
  std::int64_t nc = 1;                  ///< tiles of columns per block
  std::int64_t pack_a = 0, pack_b = 0;  ///< 1: in each block
  /// Value of pack_b: B is constant and laid out beforehand.
  static constexpr std::int64_t kPrepacked = 2;
  std::int64_t order = 0;
  std::int64_t ku = 1;
  /// Prefetch of B. 0: no prefetch. 1: while a tile is computed, the rows that it uses of the next tile of
  /// columns. 2: the same, but each tile of rows prefetches only its share of the lines. Any other value:
  /// that many rows further down.
  static constexpr std::int64_t kNoPrefetch = 0, kNextTile = 1, kNextTileShared = 2;
  std::int64_t prefetch = kNoPrefetch;
  std::int64_t masked = 0;
  /// For an nchw image in conv2d_im2col_cpu. 1: the lines that a block of pixels reads are copied first, as
  /// padded planes (planes_cpu.h); 0: they are read where they are.
  std::int64_t copy = 0;
};

/// How an operand gets into panels: as the schedule chooses, in each block, or beforehand (prepacked).
enum class Panels { kChosen, kPacked, kPrepacked };

/// The inputs of the schedules of the shared nest (gemm_cpu_nest.h).
struct GemmCpuProduct {
  ProductView p;
  Panels a = Panels::kChosen, b = Panels::kChosen;  ///< without a choice the knob does not exist
  std::vector<std::int64_t> k_blocks;               ///< values of "kc", ascending; the last one covers k
  const cpu::DotForm* form = &cpu::plain_form();    ///< k counts its groups
  std::string_view shared_out = "what the threads share out: 0 rows, 1 columns, 2 matrices of the batch";
};
void gemm_cpu_product_knobs(Knobs<GemmCpuSchedule>& k, const GemmCpuProduct& product, const Limits& limits);

/// Returns whether a GEMM's kernel has to pack A: in memory it is not in the form that the micro-kernel
/// reads. `p` has k in elements.
bool gemm_cpu_packs_a(const ProductView& p, const cpu::DotForm& form);

/// Adds the knobs of a GEMM.
void gemm_cpu_knobs(Knobs<GemmCpuSchedule>& k, const Workload& workload, const Limits& limits);
GemmCpuSchedule gemm_cpu_wanted(const Workload& workload, const Limits& limits);

}  // namespace lehr
