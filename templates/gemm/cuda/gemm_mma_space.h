// The schedules of gemm_mma: knobs, rules, default, and values derived from a schedule (threads, tiles in
// shared memory, registers).
#pragma once

#include <optional>
#include <string_view>

#include "base/limits.h"
#include "base/static_text.h"
#include "space/knobs.h"
#include "templates/shared/image_view.h"
#include "templates/shared/product_view.h"
#include "templates/shared/split_k.h"
#include "workload/workload.h"

namespace lehr {

/// The properties that all schedules of a workload share.
struct GemmMmaProblem {
  ProductView size;  ///< C row-major
  DType operand = DType::kF16;
  DType output = DType::kF32;
  DType accum = DType::kF32;
  StaticText instruction;    ///< "mma_m16n8k16_f32_bf16"
  int instructions = 1;      ///< number of instructions that together multiply mma_k() elements of k
  bool async_copies = true;  ///< whether the device has cp.async
  int passes = 1;            ///< passes over the operands: 3 for 3xTF32
  bool rounds = false;       ///< whether f32 operands are rounded to tf32 in registers
  /// Whether the products are summed up in two levels. The tensor core then adds up only the products of one
  /// step, which are mma_k() elements of k in each pass. Additions in f32 add these partial sums to the
  /// accumulators. The reason is that tensor cores truncate sums instead of rounding them, so their error
  /// grows with the length of the sum.
  bool two_level = false;
  /// If given, the product is a convolution: one operand is this view of the input, and the other operand
  /// holds the filters. With nhwc, A is the view, and k is contiguous in both operands. With nchw, B is the
  /// view, and its columns are the pixels of one image. image_product() states what the batch is.
  std::optional<ImageView> image = std::nullopt;

  std::int64_t bytes() const { return size_of(operand); }
  /// Returns the number of elements in 16 bytes: one row of ldmatrix, and the longest copy by cp.async.
  std::int64_t chunk() const { return 16 / bytes(); }
  /// Returns the number of elements of k that one step multiplies: 32 bytes, whatever the type.
  std::int64_t mma_k() const { return 32 / bytes(); }
  /// Returns the number of pixels that a window of the pool combines to one pixel; 1 without a pool. These
  /// pixels are neighbouring rows or columns of the product.
  std::int64_t window_pixels() const { return image ? image->window * image->window : 1; }
  bool pixels_are_columns() const { return image && image->conv.layout == ImageLayout::kNchw; }
  std::string_view family() const { return image ? "conv2d_mma" : "gemm_mma"; }
  bool a_along_k() const { return size.a == Layout::kRow; }
  bool b_along_k() const { return size.b == Layout::kColumn; }
};
/// Explains why tensor cores of this architecture cannot multiply the GEMM's types, or why the batch is too
/// large for a grid. Returns nullopt if the family can compute the GEMM.
std::optional<std::string> why_not_gemm_mma(const Gemm& gemm, const Limits& limits);
/// Returns the problem of a workload. CHECKs that the family has an instruction for the workload's types.
GemmMmaProblem gemm_mma_problem(const Workload& workload, const Limits& limits);

/// The knobs; gemm_mma_knobs() states their meanings and units. All but `stages` are powers of two.
struct GemmMmaSchedule {
  std::int64_t bm = 128, bn = 128, bk = 32;  ///< block tile
  std::int64_t wm = 64, wn = 64;             ///< warp tile
  /// Number of warps that share a warp tile of C; each multiplies its own part of bk.
  std::int64_t k_warps = 1;
  /// Number of blocks that share a block tile of C; each multiplies its own part of k.
  std::int64_t split_k = 1;
  std::int64_t stages = 4;        ///< number of tiles of A and of B in shared memory
  std::int64_t frag_buffers = 1;  ///< 2: fragments of the next k are loaded before those of this k are used
  std::int64_t min_blocks = 1;    ///< minimum number of blocks on a multiprocessor, for the launch bounds
  std::int64_t stage_c = 0;       ///< 1: C goes through shared memory, and the threads write whole rows
  std::int64_t raster = 1;        ///< rows of block tiles that are walked together, column by column

  std::int64_t warps_m() const { return bm / wm; }
  std::int64_t warps_n() const { return bn / wn; }
  bool staged() const { return stage_c == 1; }
  /// Returns the number of threads that together hold one block tile of C.
  std::int64_t group_threads() const { return 32 * warps_m() * warps_n(); }
  std::int64_t threads() const { return group_threads() * k_warps; }
};

/// Returns the number of tiles along k, and their distribution over the blocks that share a tile of C.
SplitK gemm_mma_split_k(const GemmMmaProblem& problem, const GemmMmaSchedule& schedule);
/// Returns the number of block tiles of C in the whole batch.
std::int64_t gemm_mma_tiles(const GemmMmaProblem& problem, const GemmMmaSchedule& schedule);

/// The tile of one operand: how the tile is copied, and its layout in shared memory. `x` is the operand's
/// dimension other than k, which is m or n. A line is a part of the tile that is contiguous in global memory,
/// along k or along x.
struct GemmMmaTile {
  bool along_k = false;
  /// Whether fragments are read from shared memory by scalar loads, without swizzle, because ldmatrix cannot
  /// transpose the elements.
  bool gathered = false;
  std::int64_t x = 0;  ///< extent of the matrix along x
  std::int64_t k = 0;
  std::int64_t tile = 0;  ///< bm or bn
  std::int64_t bk = 0;
  std::int64_t warp_tile = 0;
  std::int64_t vec = 1;  ///< elements per copy
  /// Whether the tile is copied by cp.async. Otherwise it goes through registers, because the copies have
  /// less than 4 bytes or the device has no cp.async.
  bool async = true;
  std::int64_t lines = 0;   ///< number of lines of the tile
  std::int64_t line = 0;    ///< elements of a line
  std::int64_t stride = 0;  ///< elements between lines in shared memory
  std::int64_t chunk = 0;   ///< number of elements in 16 bytes
  std::int64_t threads = 0;
  std::int64_t vectors() const { return lines * line / vec; }
  /// Returns the number of copies by one thread. If there are fewer vectors than threads, the first threads
  /// make one copy each.
  std::int64_t copies() const { return vectors() < threads ? 1 : vectors() / threads; }
  std::int64_t stage_elements() const { return lines * stride; }
};
GemmMmaTile gemm_mma_tile_a(const GemmMmaProblem& problem, const GemmMmaSchedule& schedule);
GemmMmaTile gemm_mma_tile_b(const GemmMmaProblem& problem, const GemmMmaSchedule& schedule);

/// For a tile of C in shared memory (stage_c == 1): gemm_mma_c_stride() returns the distance between rows in
/// elements. gemm_mma_c_vector() returns the number of elements per store of a thread to global memory.
std::int64_t gemm_mma_c_stride(const GemmMmaSchedule& schedule);
std::int64_t gemm_mma_c_vector(const GemmMmaProblem& problem, const GemmMmaSchedule& schedule);

/// Returns an upper bound on the number of 32-bit registers that a thread needs if ptxas is not to spill any.
/// gemm_mma_space.cpp states how the bound was found.
std::int64_t gemm_mma_registers(const GemmMmaProblem& problem, const GemmMmaSchedule& schedule);
/// Returns the shared memory of a block in bytes.
std::int64_t gemm_mma_shared_bytes(const GemmMmaProblem& problem, const GemmMmaSchedule& schedule);

void gemm_mma_problem_knobs(Knobs<GemmMmaSchedule>& k, const GemmMmaProblem& problem, const Limits& limits);
GemmMmaSchedule gemm_mma_problem_wanted(const GemmMmaProblem& problem, const Limits& limits);

/// Adds the knobs of a GEMM.
void gemm_mma_knobs(Knobs<GemmMmaSchedule>& k, const Workload& workload, const Limits& limits);
GemmMmaSchedule gemm_mma_wanted(const Workload& workload, const Limits& limits);

}  // namespace lehr
