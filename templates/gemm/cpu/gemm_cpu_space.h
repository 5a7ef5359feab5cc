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

/// The knobs; gemm_cpu_knobs() states their meanings and units. A knob that a family does not have keeps the
/// value given here.
struct GemmCpuSchedule {
  std::int64_t threads = 1;
  /// Work that the threads divide among them. 0: rows, 1: columns, 2: the batch (one work item per matrix)
  std::int64_t split = 0;
  std::int64_t lanes = 16;
  std::int64_t mr = 1;                  ///< rows of the micro-kernel
  std::int64_t nv = 1;                  ///< vectors of the micro-kernel
  std::int64_t kc = 1;                  ///< k per block
  std::int64_t mc = 1;                  ///< tiles of rows per block
  std::int64_t nc = 1;                  ///< tiles of columns per block
  std::int64_t pack_a = 0, pack_b = 0;  ///< 1: the operand is packed in each block
  /// Value of pack_b if B is constant and packed beforehand.
  static constexpr std::int64_t kPrepacked = 2;
  std::int64_t order = 0;
  std::int64_t ku = 1;
  /// Prefetch of B. 0: no prefetch. 1: while a tile is computed, prefetches the rows of B that the next tile
  /// of columns will read. 2: the same, but each tile of rows prefetches only a part of the lines. Any other
  /// value: prefetches the row of B that is this number of rows ahead.
  static constexpr std::int64_t kNoPrefetch = 0, kNextTile = 1, kNextTileShared = 2;
  std::int64_t prefetch = kNoPrefetch;
  std::int64_t masked = 0;
  /// For nchw images in conv2d_im2col_cpu. 1: the lines that a block of pixels reads are first copied to
  /// padded planes (planes_cpu.h), 0: they are read from the image.
  std::int64_t copy = 0;
};

/// When an operand is packed into panels: as the schedule chooses, in each block, or beforehand.
enum class Panels { kChosen, kPacked, kPrepacked };

/// The product that the shared nest (gemm_cpu_nest.h) computes, and the choices of its schedules.
struct GemmCpuProduct {
  ProductView p;
  /// Unless kChosen, the knobs pack_a and pack_b do not exist.
  Panels a = Panels::kChosen, b = Panels::kChosen;
  std::vector<std::int64_t> k_blocks;             ///< values of "kc", ascending; the last one covers k
  const cpu::DotForm* form = &cpu::plain_form();  ///< k counts the groups of this form
  std::string_view shared_out = "what the threads share out: 0 rows, 1 columns, 2 matrices of the batch";
};
void gemm_cpu_product_knobs(Knobs<GemmCpuSchedule>& k, const GemmCpuProduct& product, const Limits& limits);

/// Returns whether a GEMM's kernel must pack A because the micro-kernel cannot read it as it lies in memory.
/// `p` has k in elements.
bool gemm_cpu_packs_a(const ProductView& p, const cpu::DotForm& form);

/// Adds the knobs of a GEMM.
void gemm_cpu_knobs(Knobs<GemmCpuSchedule>& k, const Workload& workload, const Limits& limits);
GemmCpuSchedule gemm_cpu_wanted(const Workload& workload, const Limits& limits);

}  // namespace lehr
