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
  bool two_level = false;  ///< whether sums of kTwoLevelK products are added up in registers of their own
  bool fused = false;      ///< whether an epilogue follows
  /// The convolution, trimmed, if it is one: of nhwc images, without groups. A is its input as a matrix of
  /// output pixels (image_view.h), B holds the filters; k is contiguous in both.
  std::optional<ConvView> image = std::nullopt;
  /// Bytes of a row of k in shared memory: the swizzle of operands that lie along k.
  std::int64_t span = 128;

  std::string_view family() const { return image ? "conv2d_wgmma" : "gemm_wgmma"; }
  /// Returns whether A is not the input itself, or B not all of the filters. `size.k` then counts the
  /// channels of each tap in whole rows.
  bool gathers() const;
  /// Returns the elements of A, or of B, in memory.
  std::int64_t elements(bool of_a) const;
  std::int64_t bytes() const { return size_of(operand); }
  /// Returns the k of one instruction: 32 bytes, whatever the type.
  std::int64_t mma_k() const { return 32 / bytes(); }
  /// Returns the elements of one row of the swizzle pattern.
  std::int64_t row() const { return span / bytes(); }
  /// Returns whether an operand may lie along m or n (PTX ISA 9.0, "wgmma.mma_async": transposes are for
  /// 16-bit types).
  bool transposes() const { return bytes() == 2; }
  bool a_along_k() const { return size.a == Layout::kRow; }
  bool b_along_k() const { return size.b == Layout::kColumn; }
  /// Returns whether the side of 64 rows goes through registers. An operand that lies across k, of a type
  /// that wgmma does not transpose, must; the instruction takes only this side from registers.
  bool rows_from_registers() const { return !transposes() && !(a_along_k() && b_along_k()); }
};
/// Returns the problem of a product, or of a convolution that conv2d_wgmma serves.
GemmWgmmaProblem gemm_wgmma_problem(const Workload& workload);
/// Returns "wgmma_m64n128k16_f32_bf16", "wgmma_m64n128k8_f32_registers_tf32".
StaticText gemm_wgmma_instruction(const GemmWgmmaProblem& problem, std::int64_t columns);
/// Explains why the instruction, or the tensor memory accelerator, does not take such operands. Returns
/// nullopt if they do.
std::optional<std::string> why_not_wgmma_operands(const Gemm& gemm, const Limits& limits);

/// The knobs; meanings and units are those of gemm_wgmma_knobs(). A tile of C has `bm` rows on the side that
/// the instruction takes 64 at a time, and `bn` columns. With swap_ab these are columns and rows of C.
struct GemmWgmmaSchedule {
  std::int64_t swap_ab = 0;
  std::int64_t bm = 128, bn = 128;
  std::int64_t k_atoms = 1;    ///< k of a stage in rows of the swizzle: 128 bytes each, less for few channels
  std::int64_t consumers = 2;  ///< warpgroups that multiply; one more copies
  std::int64_t ping_pong = 0;  ///< 1: each consumer has tiles of its own, 0: they share each tile
  std::int64_t stages = 4;
  std::int64_t in_flight = 1;   ///< groups of instructions that may still run when the next stage begins
  std::int64_t persistent = 0;  ///< 1: as many blocks as multiprocessors, each takes several tiles
  std::int64_t cluster_bm = 1,
               cluster_bn = 1;  ///< neighbouring tiles whose blocks share operands by multicast
  std::int64_t raster = 1;      ///< tiles (of a block or a cluster) along bm that are walked together
  std::int64_t split_k = 1;     ///< blocks that share a tile of C, each with its part of k
  /// Where their sums meet. 0: in a workspace, 1: in the shared memory of a cluster, 2: in a workspace to
  /// which they are added.
  std::int64_t reduce = 0;
  /// Hint to the L2. 1: keep the tiles of the side of 64 rows, 2: keep those of the other side; the others
  /// are evicted first. 0: no hint.
  std::int64_t keep = 0;
  /// How C is stored. 0: from registers to global memory. Else through shared memory and the tensor memory
  /// accelerator. 1: with room for the whole tile. 2: with room for two boxes of each consumer, which writes
  /// one while the accelerator reads the other. 3: in the memory of the stages, after the last product.
  std::int64_t store = 0;
  std::int64_t stmatrix = 0;  ///< 1: into shared memory by stmatrix, a 16-bit C
  std::int64_t pdl = 0;       ///< 1: launches overlap (ir::Kernel::programmatic)

  std::int64_t threads() const { return 128 * (consumers + 1); }
  bool staged() const { return store > 0; }
  std::int64_t cluster() const { return cluster_bm * cluster_bn; }
  /// Returns the blocks of the cluster that share an operand's tile with a given one, that one included.
  std::int64_t sharing_blocks() const { return cluster_bm + cluster_bn - 1; }
  /// Returns the rows of a tile that one consumer has.
  std::int64_t consumer_rows() const { return ping_pong == 1 ? bm : bm / consumers; }
  /// Returns how many instructions side by side cover bn: one has at most 256 columns.
  std::int64_t parts() const { return bn > 256 ? 2 : 1; }
  std::int64_t columns() const { return bn / parts(); }
  std::int64_t accumulators() const {
    return consumer_rows() / 64 * bn / 2;
  }  ///< 32-bit registers of a thread
};
/// Returns the registers of a thread that the products take: the accumulators; with two levels of sums also
/// those of one instruction; and its fragments of a stage's rows, if these come from registers.
std::int64_t gemm_wgmma_sums(const GemmWgmmaProblem& problem, const GemmWgmmaSchedule& schedule);
/// Returns how many of these hold a stage's rows.
std::int64_t gemm_wgmma_fragments(const GemmWgmmaProblem& problem, const GemmWgmmaSchedule& schedule);
/// Returns the widest swizzle whose rows divide `elements` along m or n, in bytes; 0: no swizzle does.
std::int64_t gemm_wgmma_span(std::int64_t elements, std::int64_t bytes);

/// How the tensor memory accelerator sees an operand (gemm_wgmma_image.h).
enum class GemmWgmmaView { kMatrix, kPixels, kFilters };

/// Alignment of tiles in shared memory, in bytes: one pattern of the swizzle, 8 rows of 128 bytes.
inline constexpr std::int64_t kGemmWgmmaTileAlignment = 1024;

/// One operand's tile, on the side of 64 rows or on that of the columns.
struct GemmWgmmaTile {
  GemmWgmmaView view = GemmWgmmaView::kMatrix;
  bool along_k = true;
  std::int64_t extent = 0;                    ///< extent of the matrix across k
  std::int64_t tile = 0;                      ///< bm or bn
  std::int64_t span = 128;                    ///< bytes of a row in shared memory: the swizzle
  std::int64_t box_inner = 0, box_outer = 0;  ///< elements that one TMA instruction copies
  std::int64_t boxes = 1;                     ///< boxes of a stage
  /// Slices of a box along its outer side: blocks of the cluster, each of which copies one.
  std::int64_t slices = 1;
  std::int64_t leading = 16, stride = 1024;  ///< byte offsets of the matrix descriptors
  std::int64_t box_elements() const { return box_inner * box_outer; }
  std::int64_t stage_elements() const { return boxes * box_elements(); }
};
/// Returns a tile. `is_rows`: the side that is taken 64 at a time.
GemmWgmmaTile gemm_wgmma_tile(const GemmWgmmaProblem& problem, const GemmWgmmaSchedule& schedule,
                              bool is_rows);

/// A consumer's share of a tile of C on its way through shared memory: boxes side by side, `rows` high.
struct GemmWgmmaStage {
  std::int64_t span = 0;         ///< bytes of a row of a box: the swizzle; 0: the tile's width allows none
  std::int64_t box_columns = 1;  ///< elements of a row of a box
  std::int64_t rows = 1;
  std::int64_t boxes = 1;  ///< boxes of a consumer's share of the tile
  std::int64_t room = 1;   ///< boxes of a share that shared memory can hold
  std::int64_t parts = 1;  ///< consumers with a share of their own
  std::int64_t box_elements() const { return rows * box_columns; }
  std::int64_t part_elements() const { return room * box_elements(); }
  std::int64_t elements() const { return parts * part_elements(); }
};
GemmWgmmaStage gemm_wgmma_stage(const GemmWgmmaProblem& problem, const GemmWgmmaSchedule& schedule);
/// Returns, for store = 3, whether the tile uses the stages' memory of the side of 64 rows; else it uses the
/// other side's. The larger one is used.
bool gemm_wgmma_c_takes_rows(const GemmWgmmaSchedule& schedule);

/// Tiles of C, and their distribution in one launch.
struct GemmWgmmaGrid {
  std::int64_t rows = 1, columns = 1;  ///< tiles of one matrix along bm and bn
  std::int64_t tiles = 1;              ///< tiles of the whole batch
  std::int64_t blocks = 1;             ///< blocks of one part of k; whole clusters
};
/// Returns how the stages of k are dealt out.
SplitK gemm_wgmma_split_k(const GemmWgmmaProblem& problem, const GemmWgmmaSchedule& schedule);
/// Returns, for reduce = 2, the parts that add to one area of the workspace: all of them in s32; two in f32,
/// where the order of more would change the result.
std::int64_t gemm_wgmma_addends(const GemmWgmmaProblem& problem, const GemmWgmmaSchedule& schedule);

GemmWgmmaGrid gemm_wgmma_grid(const GemmWgmmaProblem& problem, const GemmWgmmaSchedule& schedule,
                              const Limits& limits);

/// Returns whether threads that multiply get registers of the one that copies.
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
