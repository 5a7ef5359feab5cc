// Lowering of gemm_simt: grid, order of blocks, main loop over tiles of k (prefetch to registers or
// cp.async).
#include "templates/gemm/cuda/gemm_simt.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/ceil_div.h"
#include "templates/family.h"
#include "templates/gemm/cuda/gemm_simt_compute.h"
#include "templates/gemm/cuda/gemm_simt_copy.h"
#include "templates/gemm/cuda/gemm_simt_space.h"
#include "templates/gemm/cuda/gemm_simt_write.h"
#include "templates/shared/cuda_common.h"
#include "templates/shared/product_view.h"
#include "templates/shared/tile_ring.h"

namespace lehr {
namespace {

using namespace ir;

// Largest block tile, and the largest extent along k of all tiles in flight.
constexpr std::int64_t kLargestTile = 256;

class Lowering {
 public:
  Lowering(const Workload& workload, const ProductView& problem, const GemmSimtSchedule& schedule)
      : p_(problem), s_(schedule) {
    if (workload.op() == Operator::kConv2d) image_ = image_view_of(workload);
    builder_.kernel.name = image_ ? "conv2d_simt" : "gemm_simt";
    builder_.kernel.target = Target::kCuda;
    builder_.kernel.min_blocks_per_core = static_cast<int>(s_.min_blocks);
    operands_ = image_ ? image_params() : add_params(builder_, p_);
    epilogue_ = FusedEpilogue(builder_, workload);
    block_ = builder_.var("block");
    batch_ = builder_.var("batch");
    thread_ = builder_.var("thread");
    m0_ = builder_.var("m0");
    n0_ = builder_.var("n0");
    share_.schedule = s_;
    share_.warp = builder_.var("warp");
    share_.lane = builder_.var("lane");
    share_.row = builder_.var("row_in");
    share_.column = builder_.var("column_in");
    share_.a = operand(operands_.a, p_.a, gemm_simt_copy_a(p_, s_), true);
    share_.b = operand(operands_.b, p_.b, gemm_simt_copy_b(p_, s_), false);
    if (image_) {
      (pixels_are_columns() ? share_.b : share_.a).image = image_;
      (pixels_are_columns() ? share_.a : share_.b).filters_of = image_;
    }
    share_.acc = builder_.buffer("acc", DType::kF32, Scope::kRegister, s_.tm * s_.tn);
    share_.a_fragment = fragment("a_frag", share_.a.copy, s_.tm);
    share_.b_fragment = fragment("b_frag", share_.b.copy, s_.tn);
    if (s_.split_k > 1) add_split();
    if (s_.staged == 1)
      staging_ = builder_.buffer("c_tile", DType::kF32, Scope::kShared, s_.threads() * s_.tn);
  }

  Kernel kernel() {
    Block body = positions();
    for (const BufferId buffer : {a_.shared, b_.shared, share_.acc, share_.a_fragment, share_.b_fragment})
      body.push_back(Alloc{buffer});
    if (s_.async == 0) append(body, block(Alloc{a_.in_flight}, Alloc{b_.in_flight}));
    if (s_.staged == 1) body.push_back(Alloc{staging_});
    append(body, gemm_simt_clear(builder_, share_));
    append(body, s_.async == 1 ? async_main_loop() : prefetch_main_loop());
    Block write = gemm_simt_write(builder_, share_, output());
    append(body, s_.split_k > 1 ? split_k_sum(builder_, sums_, place_in_split(), share_.acc, write) : write);
    Block grid = block(loop(thread_, s_.threads(), LoopKind::kThreadX, body));
    grid = block(loop(block_, tiles_m() * tiles_n(), LoopKind::kBlockX, grid));
    if (s_.split_k > 1) grid = block(loop(split_, s_.split_k, LoopKind::kBlockY, grid));
    if (p_.batch > 1) grid = block(loop(batch_, p_.batch, LoopKind::kBlockZ, grid));
    builder_.kernel.body = grid;
    return std::move(builder_.kernel);
  }

 private:
  std::int64_t tiles_m() const { return ceil_div(p_.m, s_.bm); }
  std::int64_t tiles_n() const { return ceil_div(p_.n, s_.bn); }
  SplitK tiles_k() const { return gemm_simt_split_k(p_, s_); }
  /// Returns the number of tiles of k that this block multiplies.
  Expr tiles() const {
    const SplitK split = tiles_k();
    return split.least() == split.most() ? integer(split.most()) : var(tiles_);
  }
  /// Converts the index of a tile of k within this block's part of k to its index among all tiles of k.
  Expr tile_of_k(const Expr& tile) const { return s_.split_k > 1 ? var(first_tile_) + tile : tile; }

  /// Returns whether the epilogue's channels are columns of the C that this kernel computes. For a product,
  /// channels are the columns of the workload's C; for a convolution, the filters.
  bool channels_are_columns() const { return image_ ? !pixels_are_columns() : !p_.swapped; }
  GemmSimtOutput output() const {
    GemmSimtOutput out{.c = operands_.c, .epilogue = epilogue_};
    out.base = matrix(p_.m * p_.output_columns());
    out.m = p_.m;
    out.n = p_.n;
    out.row = p_.output_columns();
    out.m0 = m0_;
    out.n0 = n0_;
    out.channels_are_columns = channels_are_columns();
    out.staging = staging_;
    if (image_) {
      const ImageMatrices at = image_matrices();
      out.base = at.output;
      out.row = at.output_row;
      out.first_channel = at.first_channel;
    }
    return out;
  }
  /// Returns the number of pixels that a window of the pool combines to one pixel; 1 without a pool.
  std::int64_t window_pixels() const { return image_ ? image_->window * image_->window : 1; }
  bool pixels_are_columns() const { return image_->conv.layout == ImageLayout::kNchw; }
  Operands image_params() {
    const Conv2d& conv = image_->conv;
    const BufferId x = builder_.param("x", DType::kF32, conv.n * conv.c * conv.h * conv.w, Direction::kIn);
    const BufferId f = builder_.param("f", DType::kF32, image_->filter_elements(), Direction::kIn);
    const BufferId y = builder_.param(
        "y", DType::kF32, conv.n * conv.k * conv.out_h() * conv.out_w() / window_pixels(), Direction::kOut);
    return pixels_are_columns() ? Operands{f, x, y} : Operands{x, f, y};
  }

  void add_split() {
    split_ = builder_.var("split");
    first_tile_ = builder_.var("first_tile");
    tiles_ = builder_.var("tiles");
    sums_.parts = s_.split_k;
    sums_.tiles = gemm_simt_tiles(p_, s_);
    sums_.threads = s_.threads();
    sums_.elements = s_.tm * s_.tn;
    sums_.vec = std::min<std::int64_t>(4, sums_.elements);
    add_split_k_buffers(builder_, DType::kF32, sums_);
  }
  SplitKPlace place_in_split() const {
    const Expr before = p_.batch > 1 ? var(batch_) * (tiles_m() * tiles_n()) : integer(0);
    return {var(split_), before + var(block_), thread_};
  }

  GemmSimtOperand operand(BufferId global, Layout layout, GemmSimtCopy copy, bool is_a) {
    GemmSimtOperand operand;
    operand.copy = copy;
    operand.layout = layout;
    operand.is_a = is_a;
    operand.global = global;
    operand.shared =
        builder_.buffer(is_a ? "a_tile" : "b_tile", DType::kF32, Scope::kShared, s_.stages * copy.elements());
    if (s_.async == 0) {
      operand.in_flight =
          builder_.buffer(is_a ? "a_next" : "b_next", DType::kF32, Scope::kRegister, copy.loads() * copy.vec);
    }
    operand.k_in = builder_.var(is_a ? StaticText("a_k") : "b_k");
    operand.x_in = builder_.var(is_a ? StaticText("a_m") : "b_n");
    return operand;
  }

  BufferId fragment(const char* name, const GemmSimtCopy& copy, std::int64_t extent) {
    return builder_.buffer(name, DType::kF32, Scope::kRegister,
                           copy.kept ? extent * kQuad : extent * s_.frag_buffers);
  }

  /// Defines m0 and n0 of the block, and the thread's positions in the tiles. `raster` rows of tiles are
  /// walked together, column by column, so that blocks that run at the same time share rows of A and columns
  /// of B in the L2.
  Block positions() {
    const std::int64_t group = s_.raster * tiles_n();
    Expr tile_m = var(block_) / tiles_n();
    Expr tile_n = var(block_) % tiles_n();
    if (s_.raster > 1) {
      const Expr first = var(block_) / group * s_.raster;
      const Expr rows = tiles_m() % s_.raster == 0 ? integer(s_.raster)
                                                   : min(integer(tiles_m()) - first, integer(s_.raster));
      tile_m = first + var(block_) % group % rows;
      tile_n = var(block_) % group / rows;
    }
    Block result = block(Let{m0_, tile_m * s_.bm}, Let{n0_, tile_n * s_.bn},
                         Let{share_.warp, var(thread_) / 32}, Let{share_.lane, var(thread_) % 32},
                         Let{share_.row, var(share_.warp) / s_.warps_n() * (s_.lanes_m * s_.tm) +
                                             var(share_.lane) / s_.lanes_n() * share_.height()},
                         Let{share_.column, var(share_.warp) % s_.warps_n() * s_.warp_columns() +
                                                var(share_.lane) % s_.lanes_n() * share_.width()});
    const SplitK split = tiles_k();
    if (s_.split_k > 1) result.push_back(Let{first_tile_, var(split_) * split.most()});
    if (split.least() < split.most())
      result.push_back(Let{tiles_, min(integer(split.tiles) - var(first_tile_), integer(split.most()))});
    append(result, gemm_simt_positions(a_, thread_));
    append(result, gemm_simt_positions(b_, thread_));
    return result;
  }

  GemmSimtCorner corner_a(const Expr& tile) const {
    return gemm_simt_corner(a_.copy, base_of(true), tile_of_k(tile), var(m0_));
  }
  GemmSimtCorner corner_b(const Expr& tile) const {
    return gemm_simt_corner(b_.copy, base_of(false), tile_of_k(tile), var(n0_));
  }
  /// Returns the first element of A (or B) of the matrix that this block multiplies.
  Expr base_of(bool a) const {
    if (!image_) return matrix(a ? p_.m * p_.k : p_.k * p_.n);
    return a == pixels_are_columns() ? image_matrices().filters : image_matrices().pixels;
  }
  ImageMatrices image_matrices() const {
    return lehr::image_matrices(*image_, p_.batch > 1 ? var(batch_) : integer(0));
  }
  /// Returns the first element of this block's matrix of the batch.
  Expr matrix(std::int64_t elements) const { return p_.batch > 1 ? var(batch_) * elements : integer(0); }

  Block load_tile(const Expr& tile) {
    Block result = gemm_simt_load(builder_, a_, thread_, corner_a(tile));
    append(result, gemm_simt_load(builder_, b_, thread_, corner_b(tile)));
    return result;
  }
  Block store_tile(const Expr& stage) {
    Block result = gemm_simt_store(builder_, a_, thread_, stage * a_.copy.elements());
    append(result, gemm_simt_store(builder_, b_, thread_, stage * b_.copy.elements()));
    return result;
  }
  Block copy_tile_async(const Expr& tile, const Expr& stage) {
    Block result = gemm_simt_copy_async(builder_, a_, thread_, corner_a(tile), stage * a_.copy.elements());
    append(result, gemm_simt_copy_async(builder_, b_, thread_, corner_b(tile), stage * b_.copy.elements()));
    return result;
  }

  Block multiply(const Expr& stage) { return gemm_simt_multiply(builder_, share_, stage); }

  /// The global loads of the next tile are in flight while the current tile is multiplied. With two stages,
  /// one barrier per tile is enough: the stage that is written was last read before the barrier at the end of
  /// the previous iteration.
  Block prefetch_main_loop() {
    Block result = load_tile(integer(0));
    append(result, store_tile(integer(0)));
    result.push_back(Barrier{});
    const VarId tile = builder_.var("tile");
    const auto stage = [&](Expr index) { return s_.stages == 1 ? integer(0) : index % s_.stages; };
    if (tiles_k().most() == 1) {
      append(result, multiply(integer(0)));
      return result;
    }
    const VarId now = builder_.var("stage");
    const Expr more = lt(var(tile), tiles() - 1);
    Block body = block(If{more, load_tile(var(tile) + 1), {}});
    if (s_.stages > 1) body.push_back(Let{now, stage(var(tile))});
    append(body, multiply(s_.stages == 1 ? integer(0) : var(now)));
    if (s_.stages == 1) body.push_back(Barrier{});
    body.push_back(If{more, store_tile(stage(var(tile) + 1)), {}});
    body.push_back(Barrier{});
    result.push_back(loop_to(tile, tiles(), tiles_k().most(), body));
    return result;
  }

  /// stages - 1 tiles are in flight. A group is committed in every iteration (an empty one at the end), so
  /// that the number of pending groups is a constant. The barrier after the wait has two purposes. It makes
  /// the tile complete for all threads, and it ensures that all threads have read the stage that the next
  /// copy overwrites.
  Block async_main_loop() {
    const std::int64_t ahead = s_.stages - 1;
    const SplitK split = tiles_k();
    // If bk does not divide k, the first tile is copied differently.
    const TileRing ring = {ahead, split, tiles(), p_.k % s_.bk == 0 ? 0 : 1,
                           block(Intrinsic{"cp_async_commit", {}, {}, 0})};
    Block result = first_tiles(
        builder_, ring, [&](const Expr& first, std::int64_t) { return copy_tile_async(first, first); });
    const VarId tile = builder_.var("tile");
    const VarId stage = builder_.var("stage");
    Block body = block(Intrinsic{"cp_async_wait", {}, {integer(ahead - 1)}, 0}, Barrier{});
    if (split.most() > ahead) {
      Block copies = copy_tile_async(var(tile) + ahead, (var(tile) + ahead) % s_.stages);
      body.push_back(If{lt(var(tile), tiles() - ahead), copies, {}});
    }
    body.push_back(Intrinsic{"cp_async_commit", {}, {}, 0});
    body.push_back(Let{stage, var(tile) % s_.stages});
    append(body, multiply(var(stage)));
    result.push_back(loop_to(tile, tiles(), tiles_k().most(), body));
    return result;
  }

  ProductView p_;
  GemmSimtSchedule s_;
  std::optional<ImageView> image_;
  KernelBuilder builder_;
  Operands operands_{};
  FusedEpilogue epilogue_;
  GemmSimtThread share_;
  const GemmSimtOperand& a_ = share_.a;
  const GemmSimtOperand& b_ = share_.b;
  VarId block_{}, batch_{}, thread_{}, m0_{}, n0_{};
  VarId split_{}, first_tile_{}, tiles_{};  ///< used with split_k > 1, as is `sums_`
  SplitKSums sums_;
  BufferId staging_{};
};

std::optional<std::string> why_not(const Workload& workload, const Limits&) {
  const Gemm& g = workload.gemm();
  for (const DType type : {g.a.type, g.b.type, g.c.type, g.accum}) {
    if (type != DType::kF32) return fmt::format("it computes in f32 only, not {}", name_of(type));
  }
  if (auto reason = cuda::why_no_grid(g)) return reason;
  return cuda::why_no_indices(g, kLargestTile);
}

Kernel lower_schedule(const Workload& workload, const GemmSimtSchedule& schedule, const Limits&) {
  return lower_gemm_simt(workload, product_view(workload), schedule);
}

}  // namespace

Kernel lower_gemm_simt(const Workload& workload, const ProductView& problem,
                       const GemmSimtSchedule& schedule) {
  return Lowering(workload, problem, schedule).kernel();
}

Template gemm_simt_template() {
  return family<"gemm_simt", gemm_simt_knobs, gemm_simt_wanted, lower_schedule>({.version = 5,
                                                                                 .target = Target::kCuda,
                                                                                 .why_not = why_not,
                                                                                 .op = Operator::kGemm,
                                                                                 .reads = {"math", "alpha"}});
}

}  // namespace lehr
