// The schedules of gemm_simt: knobs, rules, default, and values derived from a schedule (threads, warps,
// registers).
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/limits.h"
#include "space/knobs.h"
#include "templates/shared/product_view.h"
#include "templates/shared/split_k.h"
#include "workload/workload.h"

namespace lehr {

/// The knobs; gemm_simt_knobs() states their meanings and units. All sizes are powers of two.
struct GemmSimtSchedule {
  std::int64_t bm = 128, bn = 128, bk = 8;  ///< block tile
  std::int64_t tm = 8, tn = 8;              ///< thread tile
  /// Number of blocks that share a tile of C; each multiplies its own part of k.
  std::int64_t split_k = 1;
  std::int64_t lanes_m = 4;  ///< a warp is lanes_m x (32 / lanes_m) threads
  /// Layout in shared memory of operands that are contiguous along k. 0: transposed, 1: kept.
  std::int64_t k_major = 0;
  std::int64_t async = 0;             ///< 0: prefetch through registers, 1: cp.async
  std::int64_t stages = 2;            ///< number of tiles of A and of B in shared memory
  std::int64_t vec_a = 1, vec_b = 1;  ///< elements per global load
  /// Padding elements after each row of the tile of an operand that is contiguous along k.
  std::int64_t pad = 0;
  std::int64_t raster = 1;        ///< rows of block tiles that are walked together, column by column
  std::int64_t min_blocks = 1;    ///< minimum number of blocks on a multiprocessor, for the launch bounds
  std::int64_t frag_buffers = 1;  ///< 2: fragments of the next k are loaded before those of this k are used
  std::int64_t unroll = 1;        ///< k steps unrolled
  std::int64_t staged = 0;        ///< 1: C goes through shared memory on its way out

  std::int64_t lanes_n() const { return 32 / lanes_m; }
  std::int64_t threads() const { return bm / tm * (bn / tn); }
  std::int64_t warps_n() const { return bn / (lanes_n() * tn); }
  /// Returns the number of columns of the block tile that one warp computes.
  std::int64_t warp_columns() const { return lanes_n() * tn; }
};

/// Returns the number of tiles along k, and their distribution over the blocks that share a tile of C.
SplitK gemm_simt_split_k(const ProductView& problem, const GemmSimtSchedule& schedule);
/// Returns the number of block tiles of C in the whole batch.
std::int64_t gemm_simt_tiles(const ProductView& problem, const GemmSimtSchedule& schedule);

/// Elements of k that a thread reads at once from a tile that is contiguous along k: one LDS.128.
inline constexpr std::int64_t kQuad = 4;

/// How one operand's tile is copied from global to shared memory. `x` is the operand's dimension besides k: m
/// or n.
struct GemmSimtCopy {
  bool along_k = false;  ///< contiguous along k in global memory
  /// Whether the tile is contiguous along k in shared memory, too, so that a row of the tile is one x.
  /// Otherwise a row of the tile is one k, and the elements of a vector load along k are scattered over rows.
  bool kept = false;
  std::int64_t x = 0;  ///< extent of the matrix along x
  std::int64_t k = 0;
  std::int64_t tile = 0;  ///< bm or bn
  std::int64_t bk = 0;
  std::int64_t vec = 1;
  std::int64_t stride = 0;  ///< elements between rows of the tile in shared memory
  std::int64_t threads = 0;
  std::int64_t vectors() const { return tile * bk / vec; }
  /// Returns the number of elements of one tile in shared memory.
  std::int64_t elements() const { return (kept ? tile : bk) * stride; }
  /// Returns the number of neighbouring elements along x that a thread reads at once. Along k, a thread reads
  /// kQuad elements at once from a kept tile, and one element from any other tile.
  std::int64_t fragment_width(std::int64_t thread_tile) const {
    return kept ? 1 : std::min<std::int64_t>(thread_tile, 4);
  }
  /// Returns the number of vector loads by one thread. If there are fewer vectors than threads, the first
  /// threads make one load each.
  std::int64_t loads() const { return vectors() < threads ? 1 : vectors() / threads; }
};
GemmSimtCopy gemm_simt_copy_a(const ProductView& problem, const GemmSimtSchedule& schedule);
GemmSimtCopy gemm_simt_copy_b(const ProductView& problem, const GemmSimtSchedule& schedule);

/// Returns an upper bound on the number of 32-bit registers that a thread needs if ptxas is not to spill any.
/// gemm_simt_space.cpp states how the bound was found.
std::int64_t gemm_simt_registers(const ProductView& problem, const GemmSimtSchedule& schedule);
/// Returns the shared memory of a block in bytes.
std::int64_t gemm_simt_shared_bytes(const ProductView& problem, const GemmSimtSchedule& schedule);

/// The properties in which gemm_simt and conv2d_simt, the families that use these schedules, differ. In
/// conv2d_simt one operand is a view of an image, and its elements are gathered from the image.
struct GemmSimtForm {
  ProductView problem;
  /// Maximum number of elements per load of A and of B. The extent of the matrix may allow only fewer
  /// elements.
  std::int64_t vector_a = 4, vector_b = 4;
  std::int64_t more_registers = 0;        ///< registers of a thread in addition to gemm_simt_registers()
  std::int64_t registers_per_gather = 0;  ///< additional registers for each load of the gathered operand
  bool gathers_a = false;                 ///< whether A is the gathered operand; otherwise B is
  /// Whether a pool follows the convolution. Its windows combine four neighbouring pixels. Pixels are rows of
  /// C if A is the gathered operand; otherwise they are columns of C.
  bool pools = false;
};
void gemm_simt_form_knobs(Knobs<GemmSimtSchedule>& k, const GemmSimtForm& form, const Limits& limits);
GemmSimtSchedule gemm_simt_form_wanted(const GemmSimtForm& form, const Limits& limits);

/// Adds the knobs of a GEMM.
void gemm_simt_knobs(Knobs<GemmSimtSchedule>& k, const Workload& workload, const Limits& limits);
GemmSimtSchedule gemm_simt_wanted(const Workload& workload, const Limits& limits);

}  // namespace lehr
