// The schedules of gemm_wgmma: knobs, rules, default, and values derived from a schedule (threads, tiles in
// shared memory, registers, tiles of C).
#pragma once

#include <optional>
#include <string>

#include "base/limits.h"
#include "base/static_text.h"
#include "space/knobs.h"
#include "templates/shared/conv_view.h"
#include "templates/shared/product_view.h"
#include "templates/shared/split_k.h"
#include "workload/workload.h"

namespace lehr {

/// The properties that all schedules of a workload share.
struct GemmWgmmaProblem {
  ProductView size;  ///< C row-major
  DType operand = DType::kBF16;
  DType output = DType::kF32;
  DType accum = DType::kF32;
  /// Whether the products are summed up in two levels: the sum of kTwoLevelK products is formed in separate
  /// registers and then added to the accumulators.
  bool two_level = false;
  bool fused = false;  ///< whether an epilogue follows
  /// The trimmed convolution, if the workload is a convolution of nhwc images without groups. A is then the
  /// view of the input as a matrix with one row per output pixel (image_view.h), and B holds the filters. k
  /// is contiguous in A and B.
  std::optional<ConvView> image = std::nullopt;
  /// Bytes along k of one row of shared memory, for operands that are contiguous along k in shared memory.
  /// The width of the swizzle has the same size.
  std::int64_t span = 128;

  std::string_view family() const { return image ? "conv2d_wgmma" : "gemm_wgmma"; }
  /// Returns whether row i of A is not simply pixel i of the input, because of taps, padding or strides. The
  /// channels of each tap are then padded to a multiple of row() elements of k, and `size.k` includes this
  /// padding.
  bool gathers() const;
  /// Returns the number of elements of A (or of B) in memory.
  std::int64_t elements(bool of_a) const;
  std::int64_t bytes() const { return size_of(operand); }
  /// Returns the number of elements of k that one instruction multiplies: 32 bytes, whatever the type.
  std::int64_t mma_k() const { return 32 / bytes(); }
  /// Returns the number of elements in one row of the swizzle pattern.
  std::int64_t row() const { return span / bytes(); }
  /// Returns whether an operand may be contiguous along m or n in shared memory. wgmma can transpose only
  /// 16-bit types (PTX ISA 9.0, "wgmma.mma_async").
  bool transposes() const { return bytes() == 2; }
  bool a_along_k() const { return size.a == Layout::kRow; }
  bool b_along_k() const { return size.b == Layout::kColumn; }
  /// Returns whether the operand of which the instruction takes 64 rows goes through registers. This is
  /// necessary if an operand is not contiguous along k and wgmma cannot transpose its type. The instruction
  /// can read only its rows from registers, so the operand to be transposed must be the operand of the rows.
  bool rows_from_registers() const { return !transposes() && !(a_along_k() && b_along_k()); }
};
/// Returns the problem of a product, or of a convolution that conv2d_wgmma serves.
GemmWgmmaProblem gemm_wgmma_problem(const Workload& workload);
/// Returns the instruction's name: "wgmma_m64n128k16_f32_bf16", "wgmma_m64n128k8_f32_registers_tf32".
StaticText gemm_wgmma_instruction(const GemmWgmmaProblem& problem, std::int64_t columns);
/// Explains why wgmma or the tensor memory accelerator cannot process the GEMM's operands. Returns nullopt if
/// both can.
std::optional<std::string> why_not_wgmma_operands(const Gemm& gemm, const Limits& limits);

/// The knobs; gemm_wgmma_knobs() states their meanings and units. The instruction multiplies 64 rows of one
/// operand by the columns of the other one. A tile of C has `bm` such rows and `bn` columns. With swap_ab the
/// instruction's rows are columns of C, and its columns are rows of C.
struct GemmWgmmaSchedule {
  std::int64_t swap_ab = 0;
  std::int64_t bm = 128, bn = 128;
  /// Elements of k per stage, in rows of the swizzle: 128 bytes each, or less for few channels.
  std::int64_t k_atoms = 1;
  std::int64_t consumers = 2;  ///< number of warpgroups that multiply; one more warpgroup copies
  /// 1: each consumer computes whole tiles of C alone. 0: all consumers compute each tile together.
  std::int64_t ping_pong = 0;
  std::int64_t stages = 4;
  /// Number of groups of wgmma instructions that may still run when the instructions of the next stage are
  /// issued.
  std::int64_t in_flight = 1;
  std::int64_t persistent = 0;  ///< 1: one block per multiprocessor, which computes several tiles
  std::int64_t cluster_bm = 1,
               /// Tiles of a cluster along bn; neighbouring blocks share operands by multicast.
      cluster_bn = 1;
  std::int64_t raster = 1;  ///< number of tiles (of a block or cluster) along bm that are walked together
  /// Number of blocks that share a tile of C; each multiplies its own part of k.
  std::int64_t split_k = 1;
  /// Memory in which blocks that split k add up their sums. 0: a workspace, 1: the shared memory of a
  /// cluster, 2: a workspace with atomic additions (gemm_wgmma_reduce.h).
  std::int64_t reduce = 0;
  /// Selects the operand whose tiles the L2 cache should keep. The tiles of the other operand are evicted
  /// first. 1: the operand of which the instruction takes 64 rows. 2: the operand of the columns. 0: no hint.
  std::int64_t keep = 0;
  /// How C is stored. 0: from registers to global memory. 1, 2, 3: through shared memory, by the tensor
  /// memory accelerator. With 1, shared memory has room for the whole tile. With 2, it has room for two boxes
  /// per consumer: the consumer writes one box while the accelerator reads the other. With 3, C takes the
  /// memory of the stages after the last product.
  std::int64_t store = 0;
  std::int64_t stmatrix = 0;  ///< 1: C (of a 16-bit type) is written to shared memory by stmatrix
  std::int64_t pdl = 0;       ///< 1: launches overlap (ir::Kernel::programmatic)

  std::int64_t threads() const { return 128 * (consumers + 1); }
  bool staged() const { return store > 0; }
  std::int64_t cluster() const { return cluster_bm * cluster_bn; }
  /// Returns the number of blocks of a cluster that share the tile of at least one operand with a given
  /// block, including that block.
  std::int64_t sharing_blocks() const { return cluster_bm + cluster_bn - 1; }
  /// Returns the number of a tile's rows that one consumer computes.
  std::int64_t consumer_rows() const { return ping_pong == 1 ? bm : bm / consumers; }
  /// Returns the number of instructions that together cover bn columns. One instruction has at most 256
  /// columns.
  std::int64_t parts() const { return bn > 256 ? 2 : 1; }
  std::int64_t columns() const { return bn / parts(); }
  std::int64_t accumulators() const {
    return consumer_rows() / 64 * bn / 2;
  }  ///< 32-bit registers of a thread
};
/// Returns the number of registers of a thread that the products need. These are the registers of the
/// accumulators, with two_level also the partial sums of one instruction, and with rows_from_registers() also
/// the fragments of a stage's rows.
std::int64_t gemm_wgmma_sums(const GemmWgmmaProblem& problem, const GemmWgmmaSchedule& schedule);
/// Returns the number of registers among gemm_wgmma_sums() that hold the fragments of a stage's rows.
std::int64_t gemm_wgmma_fragments(const GemmWgmmaProblem& problem, const GemmWgmmaSchedule& schedule);
/// Returns the width in bytes of the widest swizzle whose rows divide a tile of `elements` elements along m
/// or n. `bytes` is the size of one element. Returns 0 if there is no such swizzle.
std::int64_t gemm_wgmma_span(std::int64_t elements, std::int64_t bytes);

/// How the tensor memory accelerator sees an operand (gemm_wgmma_image.h).
enum class GemmWgmmaView { kMatrix, kPixels, kFilters };

/// Alignment of tiles in shared memory, in bytes: one pattern of the swizzle, 8 rows of 128 bytes.
inline constexpr std::int64_t kGemmWgmmaTileAlignment = 1024;

/// The tile of one operand: either of the operand of which the instruction takes 64 rows, or of the operand
/// of the columns.
struct GemmWgmmaTile {
  GemmWgmmaView view = GemmWgmmaView::kMatrix;
  bool along_k = true;
  /// Extent of the matrix along m or n, the operand's dimension other than k.
  std::int64_t extent = 0;
  std::int64_t tile = 0;  ///< bm or bn
  /// Bytes of a row in shared memory, which is the width of the swizzle.
  std::int64_t span = 128;
  /// Elements that one TMA instruction copies: along the contiguous dimension, and along the other one.
  std::int64_t box_inner = 0, box_outer = 0;
  std::int64_t boxes = 1;  ///< number of boxes in a stage
  /// Number of slices into which a box is divided along its outer dimension. Each slice is loaded by one
  /// block of the cluster.
  std::int64_t slices = 1;
  std::int64_t leading = 16, stride = 1024;  ///< byte offsets in the matrix descriptor
  std::int64_t box_elements() const { return box_inner * box_outer; }
  std::int64_t stage_elements() const { return boxes * box_elements(); }
};
/// Returns the tile of one operand. `is_rows` selects the operand of which the instruction takes 64 rows.
GemmWgmmaTile gemm_wgmma_tile(const GemmWgmmaProblem& problem, const GemmWgmmaSchedule& schedule,
                              bool is_rows);

/// The part of a tile of C that a consumer stores through shared memory: boxes side by side, `rows` high.
struct GemmWgmmaStage {
  /// Bytes of a row of a box, which is also the width of the swizzle; 0 if the tile's width allows no
  /// swizzle.
  std::int64_t span = 0;
  std::int64_t box_columns = 1;  ///< elements in a row of a box
  std::int64_t rows = 1;
  std::int64_t boxes = 1;  ///< number of boxes of the consumer's part of the tile
  std::int64_t room = 1;   ///< number of boxes that shared memory can hold per consumer
  std::int64_t parts = 1;  ///< number of consumers that have a part of their own
  std::int64_t box_elements() const { return rows * box_columns; }
  std::int64_t part_elements() const { return room * box_elements(); }
  std::int64_t elements() const { return parts * part_elements(); }
};
GemmWgmmaStage gemm_wgmma_stage(const GemmWgmmaProblem& problem, const GemmWgmmaSchedule& schedule);
/// For store = 3: C reuses the memory of one operand's stages. Returns true if C reuses the memory of the
/// operand of which the instruction takes 64 rows, false if C reuses the memory of the other operand. The
/// larger memory is chosen.
bool gemm_wgmma_c_takes_rows(const GemmWgmmaSchedule& schedule);

/// The tiles of C, and the blocks that compute them in one launch.
struct GemmWgmmaGrid {
  std::int64_t rows = 1, columns = 1;  ///< number of tiles of one matrix along bm and along bn
  std::int64_t tiles = 1;              ///< number of tiles in the whole batch
  std::int64_t blocks = 1;             ///< number of blocks per part of k, a multiple of the cluster's size
};
/// Returns the number of stages along k, and their distribution over the blocks that share a tile of C.
SplitK gemm_wgmma_split_k(const GemmWgmmaProblem& problem, const GemmWgmmaSchedule& schedule);
/// For reduce = 2: returns the number of parts of k whose sums are added to the same area of the workspace.
/// For sums in s32, all parts share one area. For sums in f32, only two parts share an area, since the order
/// of more additions would change the result.
std::int64_t gemm_wgmma_addends(const GemmWgmmaProblem& problem, const GemmWgmmaSchedule& schedule);

GemmWgmmaGrid gemm_wgmma_grid(const GemmWgmmaProblem& problem, const GemmWgmmaSchedule& schedule,
                              const Limits& limits);

/// Returns whether setmaxnreg moves registers from the thread that copies to the threads that multiply.
bool gemm_wgmma_deals_registers(const GemmWgmmaProblem& problem, const GemmWgmmaSchedule& schedule);
/// Registers of a thread after setmaxnreg (gemm_wgmma_shapes.cpp has their source).
struct GemmWgmmaRegisters {
  std::int64_t producer = 40, consumer = 232;
};
GemmWgmmaRegisters gemm_wgmma_registers(const GemmWgmmaProblem& problem, const GemmWgmmaSchedule& schedule);
/// Returns the shared memory of a block in bytes.
std::int64_t gemm_wgmma_shared_bytes(const GemmWgmmaProblem& problem, const GemmWgmmaSchedule& schedule);

/// Adds the knobs of a product, or of a convolution that conv2d_wgmma serves.
void gemm_wgmma_knobs(Knobs<GemmWgmmaSchedule>& k, const Workload& workload, const Limits& limits);
GemmWgmmaSchedule gemm_wgmma_wanted(const Workload& workload, const Limits& limits);

}  // namespace lehr
