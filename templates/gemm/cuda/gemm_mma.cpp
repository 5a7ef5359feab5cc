// Lowering of gemm_mma: order of blocks, ring of tiles, fragments and mma, sum over the warps that split k,
// store.
#include "templates/gemm/cuda/gemm_mma.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "base/ceil_div.h"
#include "templates/catalog.h"
#include "templates/family.h"
#include "templates/gemm/cuda/gemm_mma_operand.h"
#include "templates/gemm/cuda/gemm_mma_space.h"
#include "templates/gemm/cuda/gemm_mma_write.h"
#include "templates/gemm/cuda/gemm_wgmma.h"
#include "templates/shared/cuda_common.h"
#include "templates/shared/product_view.h"
#include "templates/shared/tile_ring.h"

namespace lehr {
namespace {

using namespace ir;

// Largest block tile, and the largest extent along k of all tiles in flight.
constexpr std::int64_t kLargestTile = 512;

class Lowering {
 public:
  Lowering(const Workload& workload, const GemmMmaProblem& problem, const GemmMmaSchedule& schedule)
      : p_(problem), s_(schedule) {
    builder_.kernel.name = p_.family();
    builder_.kernel.target = Target::kCuda;
    builder_.kernel.min_blocks_per_core = static_cast<int>(s_.min_blocks);
    add_params();
    epilogue_ = FusedEpilogue(builder_, workload);
    block_ = builder_.var("block");
    batch_ = builder_.var("batch");
    thread_ = builder_.var("thread");
    lane_ = builder_.var("lane");
    warp_ = builder_.var("warp");
    k_group_ = builder_.var("k_group");
    warp_m_ = builder_.var("warp_m");
    warp_n_ = builder_.var("warp_n");
    if (s_.split_k > 1) split_ = builder_.var("split");
    m0_ = builder_.var("m0");
    n0_ = builder_.var("n0");
    add_operand(a_, true, gemm_mma_tile_a(p_, s_));
    add_operand(b_, false, gemm_mma_tile_b(p_, s_));
    acc_ = builder_.buffer("acc", p_.accum, Scope::kRegister, s_.wm * s_.wn / 32);
    if (p_.two_level) step_sums_ = builder_.buffer("step_sums", p_.accum, Scope::kRegister, 4);
    const std::int64_t vec = gemm_mma_c_vector(p_, s_);
    if (s_.staged()) {
      c_tile_ =
          builder_.buffer("c_tile", p_.accum, Scope::kShared, s_.k_warps * s_.bm * gemm_mma_c_stride(s_));
      sum_ = builder_.buffer("sum", p_.accum, Scope::kRegister,
                             s_.split_k > 1 ? s_.bm * s_.bn / s_.threads() : vec * p_.window_pixels());
    }
    if (s_.k_warps > 1) part_ = builder_.buffer("part", p_.accum, Scope::kRegister, vec);
    if (p_.output != p_.accum) converted_ = builder_.buffer("converted", p_.output, Scope::kRegister, 4);
    if (s_.split_k > 1) add_split();
  }

  Kernel kernel() {
    Block body = positions();
    for (const GemmMmaOperand* each : {&a_, &b_}) {
      append(body, block(Alloc{each->shared}, Alloc{each->fragment}));
      if (p_.passes == 3) body.push_back(Alloc{each->rest});
      if (!each->tile.async) body.push_back(Alloc{each->in_flight});
    }
    body.push_back(Alloc{acc_});
    if (p_.two_level) body.push_back(Alloc{step_sums_});
    append(body, clear(acc_, s_.wm * s_.wn / 32));
    append(body, main_loop());
    append(body, write());
    Block grid = block(loop(thread_, s_.threads(), LoopKind::kThreadX, body));
    grid = block(loop(block_, tiles_m() * tiles_n(), LoopKind::kBlockX, grid));
    if (s_.split_k > 1) grid = block(loop(split_, s_.split_k, LoopKind::kBlockY, grid));
    if (p_.size.batch > 1) grid = block(loop(batch_, p_.size.batch, LoopKind::kBlockZ, grid));
    builder_.kernel.body = grid;
    return std::move(builder_.kernel);
  }

 private:
  std::int64_t tiles_m() const { return ceil_div(p_.size.m, s_.bm); }
  std::int64_t tiles_n() const { return ceil_div(p_.size.n, s_.bn); }
  SplitK tiles_k() const { return gemm_mma_split_k(p_, s_); }
  /// Returns the number of mma steps along k that one warp makes in one tile.
  std::int64_t steps() const { return s_.bk / s_.k_warps / p_.mma_k(); }
  bool any_async() const { return a_.tile.async || b_.tile.async; }

  void add_params() {
    const ProductView& size = p_.size;
    if (p_.image) {
      const Conv2d& conv = p_.image->conv;
      GemmMmaOperand& pixels = p_.pixels_are_columns() ? b_ : a_;
      GemmMmaOperand& filters = p_.pixels_are_columns() ? a_ : b_;
      pixels.global = builder_.param("x", p_.operand, conv.n * conv.h * conv.w * conv.c, Direction::kIn);
      filters.global = builder_.param("f", p_.operand, p_.image->filter_elements(), Direction::kIn);
      c_ = builder_.param("y", p_.output, size.batch * size.m / p_.window_pixels() * size.n, Direction::kOut);
      pixels.image = filters.filters_of = p_.image;
      return;
    }
    const Operands operands = lehr::add_params(builder_, size);
    a_.global = operands.a;
    b_.global = operands.b;
    c_ = operands.c;
  }

  void add_split() {
    first_tile_ = builder_.var("first_tile");
    tiles_ = builder_.var("tiles");
    sums_.parts = s_.split_k;
    sums_.tiles = gemm_mma_tiles(p_, s_);
    sums_.threads = s_.threads();
    sums_.elements = s_.staged() ? s_.bm * s_.bn / s_.threads() : s_.wm * s_.wn / 32;
    sums_.vec = s_.staged() ? gemm_mma_c_vector(p_, s_) : 4;
    add_split_k_buffers(builder_, p_.accum, sums_);
  }

  void add_operand(GemmMmaOperand& operand, bool is_a, const GemmMmaTile& tile) {
    operand.tile = tile;
    operand.is_a = is_a;
    operand.shared = builder_.buffer(is_a ? "a_tile" : "b_tile", p_.operand, Scope::kShared,
                                     s_.stages * tile.stage_elements());
    const std::int64_t registers = s_.frag_buffers * fragment_registers(operand);
    operand.fragment = builder_.buffer(is_a ? "a_frag" : "b_frag", DType::kU32, Scope::kRegister, registers);
    if (p_.passes == 3)
      operand.rest = builder_.buffer(is_a ? "a_rest" : "b_rest", DType::kU32, Scope::kRegister, registers);
    if (!tile.async)
      operand.in_flight =
          builder_.buffer(is_a ? "a_next" : "b_next", p_.operand, Scope::kRegister, tile.copies() * tile.vec);
    operand.line = builder_.var(is_a ? StaticText("a_line") : "b_line");
    operand.along = builder_.var(is_a ? StaticText("a_along") : "b_along");
    operand.place = builder_.var(is_a ? StaticText("a_place") : "b_place");
    operand.row = builder_.var(is_a ? StaticText("a_row") : "b_row");
    operand.chunk = builder_.var(is_a ? StaticText("a_chunk") : "b_chunk");
  }

  static std::int64_t fragment_registers(const GemmMmaOperand& operand) {
    return operand.tile.warp_tile / 16 * 4;
  }
  GemmMmaThread thread_of(const GemmMmaOperand& operand) const {
    return {thread_, lane_, operand.is_a ? warp_m_ : warp_n_, k_group_};
  }

  /// Defines m0 and n0 of the block, and the positions of the thread. `raster` rows of tiles are walked
  /// together, column by column, so that blocks that run at the same time share rows of A and columns of B in
  /// the L2.
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
    const std::int64_t warps = s_.warps_m() * s_.warps_n();
    const SplitK split = tiles_k();
    Block result = block(Let{m0_, tile_m * s_.bm}, Let{n0_, tile_n * s_.bn}, Let{lane_, var(thread_) % 32},
                         Let{warp_, var(thread_) / 32});
    if (s_.k_warps > 1) result.push_back(Let{k_group_, var(warp_) / warps});
    result.push_back(Let{warp_m_, (s_.k_warps > 1 ? var(warp_) % warps : var(warp_)) / s_.warps_n()});
    result.push_back(Let{warp_n_, var(warp_) % s_.warps_n()});
    if (s_.split_k > 1) result.push_back(Let{first_tile_, var(split_) * split.most()});
    if (split.least() < split.most())
      result.push_back(Let{tiles_, min(integer(split.tiles) - var(first_tile_), integer(split.most()))});
    for (const GemmMmaOperand* each : {&a_, &b_}) {
      append(result, gemm_mma_copy_places(*each, thread_of(*each)));
      append(result, gemm_mma_fragment_places(p_, s_, *each, thread_of(*each)));
    }
    return result;
  }

  /// Returns the corner of tile number `tile`, which is at most `last`. If k is split, `tile` counts the
  /// block's own tiles.
  GemmMmaCorner corner(const GemmMmaOperand& operand, const Expr& tile, std::int64_t last) const {
    const Expr first = s_.split_k > 1 ? var(first_tile_) : integer(0);
    const Expr base = !p_.image       ? matrix(operand.tile.x * operand.tile.k)
                      : operand.image ? image_matrices().pixels
                                      : image_matrices().filters;
    const bool whole = p_.size.k % s_.bk == 0 || (s_.split_k == 1 && (last + 1) * s_.bk <= p_.size.k);
    return {base, (first + tile) * s_.bk, var(operand.is_a ? m0_ : n0_), whole};
  }
  ImageMatrices image_matrices() const {
    return lehr::image_matrices(*p_.image, p_.size.batch > 1 ? var(batch_) : integer(0));
  }
  /// Returns the first element of this block's matrix of the batch.
  Expr matrix(std::int64_t elements) const { return p_.size.batch > 1 ? var(batch_) * elements : integer(0); }
  static Expr stage_of(const GemmMmaOperand& operand, const Expr& stage) {
    return stage * operand.tile.stage_elements();
  }

  Block clear(BufferId sums, std::int64_t count) {
    const Unrolled i(builder_, "i", count);
    return i.over(block(Store{sums, i.at, zero(p_.accum), 1, std::nullopt}));
  }

  /// Begins the copy of tile number `tile` (at most `last`) to `stage`, by cp.async. For operands that
  /// cp.async cannot copy, it loads the tile into registers.
  Block begin_copy(const Expr& tile, std::int64_t last, const Expr& stage) {
    Block result;
    for (const GemmMmaOperand* each : {&a_, &b_}) {
      const GemmMmaThread thread = thread_of(*each);
      const GemmMmaCorner from = corner(*each, tile, last);
      append(result, each->tile.async ? gemm_mma_copy(builder_, *each, thread, from, stage_of(*each, stage))
                                      : gemm_mma_load(builder_, *each, thread, from));
    }
    return result;
  }
  /// Ends the copy of operands that go through registers: stores them to shared memory.
  Block end_copy(const Expr& stage) {
    Block result;
    for (const GemmMmaOperand* each : {&a_, &b_})
      if (!each->tile.async)
        append(result, gemm_mma_store(builder_, *each, thread_of(*each), stage_of(*each, stage)));
    return result;
  }
  Block commit() const {
    if (!any_async()) return {};
    return block(Intrinsic{"cp_async_commit", {}, {}, 0});
  }

  /// stages - 1 tiles are in flight. A group is committed in every iteration (an empty one at the end), so
  /// that the number of pending groups is a constant. The barrier after the wait has two purposes. It makes
  /// the tile complete for all threads, and it ensures that all threads have read the stage that the next
  /// copy overwrites.
  Block main_loop() {
    const std::int64_t ahead = s_.stages - 1;
    const SplitK split = tiles_k();
    const bool even = split.least() == split.most();
    const Expr tiles = even ? integer(split.most()) : var(tiles_);
    const TileRing ring = {ahead, split, tiles, s_.split_k == 1 ? p_.size.k / s_.bk : 0, commit()};
    Block result = first_tiles(builder_, ring, [&](const Expr& first, std::int64_t last) {
      Block copy = begin_copy(first, last, first);
      append(copy, end_copy(first));
      return copy;
    });
    const VarId tile = builder_.var("tile");
    const VarId stage = builder_.var("stage");
    const Expr more = lt(var(tile), tiles - ahead);
    const Expr next_stage = (var(tile) + ahead) % s_.stages;
    Block body;
    if (any_async()) body.push_back(Intrinsic{"cp_async_wait", {}, {integer(ahead - 1)}, 0});
    body.push_back(Barrier{});
    if (split.most() > ahead)
      body.push_back(If{more, begin_copy(var(tile) + ahead, split.most() - 1, next_stage), {}});
    append(body, commit());
    body.push_back(Let{stage, var(tile) % s_.stages});
    append(body, compute(var(stage)));
    Block end = end_copy(next_stage);
    if (split.most() > ahead && !end.empty()) body.push_back(If{more, end, {}});
    result.push_back(loop_to(tile, tiles, split.most(), body));
    return result;
  }

  /// Loads the fragments of one step into the buffer that `turn` selects (a constant once unrolled).
  Block load_fragments(const Expr& stage, const Expr& step, const Expr& turn) {
    Block result;
    for (const GemmMmaOperand* each : {&a_, &b_})
      append(result, gemm_mma_fragments(builder_, p_, *each, stage_of(*each, stage), step,
                                        turn * fragment_registers(*each)));
    return result;
  }

  /// Computes all products of the fragments of one step. Every other row of tiles is walked backwards, so
  /// that it begins with the fragment of B that was used last. With two levels of sums, the sums of one step
  /// are the first level.
  Block multiply_add(const Expr& turn) {
    const std::int64_t columns = s_.wn / 8;
    const Unrolled i(builder_, "i", s_.wm / 16);
    const Unrolled j(builder_, "j", columns);
    const VarId column = builder_.var("mma_column");
    const Expr a = turn * fragment_registers(a_) + i.at * 4;
    const Expr b = turn * fragment_registers(b_) + var(column) * 2;
    const Expr first = (i.at * columns + var(column)) * 4;
    const Touch sums = p_.two_level ? Touch{step_sums_, integer(0), 4, true} : Touch{acc_, first, 4, true};
    // The first half of a fragment's registers holds the first half of k (PTX ISA 9.0, "Matrix Fragments for
    // mma.m16n8k16" and "... mma.m16n8k8").
    const int parts = p_.instructions;
    const auto mma = [&](BufferId left, BufferId right) {
      Block all;
      for (int part = 0; part < parts; ++part)
        all.push_back(Intrinsic{p_.instruction,
                                {sums, Touch{left, a + part * (4 / parts), 4 / parts, false},
                                 Touch{right, b + part * (2 / parts), 2 / parts, false}},
                                {},
                                2.0 * 16 * 8 * static_cast<double>(p_.mma_k()) / 32 / parts});
      return all;
    };
    Block body = block(Let{column, j.at + i.at % 2 * (integer(columns - 1) - j.at * 2)});
    if (p_.two_level) append(body, clear(step_sums_, 4));
    if (p_.passes == 3) {
      append(body, mma(a_.rest, b_.fragment));
      append(body, mma(a_.fragment, b_.rest));
    }
    append(body, mma(a_.fragment, b_.fragment));
    if (p_.two_level) {
      const VarId e = builder_.var("e");
      const Expr at = first + var(e);
      body.push_back(
          loop(e, 4, LoopKind::kUnrolled,
               block(Store{acc_, at, load(acc_, at) + load(step_sums_, var(e)), 1, std::nullopt})));
    }
    return i.over(j.over(body));
  }

  /// Adds the warp's part of A tile * B tile to the accumulators.
  Block compute(const Expr& stage) {
    if (s_.frag_buffers == 1) {
      const Unrolled step(builder_, "step", steps());
      Block body = load_fragments(stage, step.at, integer(0));
      append(body, multiply_add(integer(0)));
      return step.over(body);
    }
    const Unrolled step(builder_, "step", steps() - 1);
    const Expr next = step.at + 1;
    Block result = load_fragments(stage, integer(0), integer(0));
    Block body = load_fragments(stage, next, next % 2);
    append(body, multiply_add(step.at % 2));
    append(result, step.over(body));
    append(result, multiply_add(integer((steps() - 1) % 2)));
    return result;
  }

  Block write() {
    GemmMmaOutput out{.accumulators = acc_, .c = c_, .epilogue = epilogue_};
    out.tile = c_tile_;
    out.sum = sum_;
    out.part = part_;
    out.converted = converted_;
    out.thread = thread_;
    out.lane = lane_;
    out.k_group = k_group_;
    out.warp_m = warp_m_;
    out.warp_n = warp_n_;
    out.m0 = m0_;
    out.n0 = n0_;
    out.base = matrix(p_.size.m * p_.size.output_columns());
    out.row = p_.size.output_columns();
    out.channels_are_columns = !p_.size.swapped && !p_.pixels_are_columns();
    if (p_.image) {
      const ImageMatrices at = image_matrices();
      out.base = at.output;
      out.row = at.output_row;
      out.first_channel = at.first_channel;
    }
    out.sums = sums_;
    if (s_.split_k > 1) {
      const Expr before = p_.size.batch > 1 ? var(batch_) * (tiles_m() * tiles_n()) : integer(0);
      out.place = {var(split_), before + var(block_), thread_};
    }
    return gemm_mma_write(builder_, p_, s_, out);
  }

  GemmMmaProblem p_;
  GemmMmaSchedule s_;
  KernelBuilder builder_;
  GemmMmaOperand a_, b_;
  FusedEpilogue epilogue_;
  BufferId c_{}, acc_{}, step_sums_{}, c_tile_{}, sum_{}, part_{}, converted_{};
  SplitKSums sums_;                         ///< used with split_k > 1
  VarId split_{}, first_tile_{}, tiles_{};  ///< used with split_k > 1, too
  VarId block_{}, batch_{}, thread_{}, lane_{}, warp_{}, k_group_{}, warp_m_{}, warp_n_{}, m0_{}, n0_{};
};

std::optional<std::string> why_not(const Workload& workload, const Limits& limits) {
  const Gemm& g = workload.gemm();
  if (auto reason = why_not_gemm_mma(g, limits)) return reason;
  if (auto reason = why_served_by(gemm_wgmma_template(), g.a.type, workload, limits)) return reason;
  return cuda::why_no_indices(g, kLargestTile);
}

Kernel lower_schedule(const Workload& workload, const GemmMmaSchedule& schedule, const Limits& limits) {
  return lower_gemm_mma(workload, gemm_mma_problem(workload, limits), schedule);
}

}  // namespace

Kernel lower_gemm_mma(const Workload& workload, const GemmMmaProblem& problem,
                      const GemmMmaSchedule& schedule) {
  return Lowering(workload, problem, schedule).kernel();
}

std::optional<std::string> why_served_by(const Template& other, DType operand, const Workload& workload,
                                         const Limits& limits) {
  if (!is_8_bit_float(operand) || limits.has(Ability::kMmaF8IsNative)) return std::nullopt;
  if (why_unserved(other, workload, limits)) return std::nullopt;
  return fmt::format("mma.sync of {} is conversions and products of f16 on {}: {} has instructions for it",
                     name_of(operand), limits.arch, other.name);
}

Template gemm_mma_template() {
  return family<"gemm_mma", gemm_mma_knobs, gemm_mma_wanted, lower_schedule>({.version = 5,
                                                                              .target = Target::kCuda,
                                                                              .why_not = why_not,
                                                                              .op = Operator::kGemm,
                                                                              .reads = {"math", "alpha"}});
}

}  // namespace lehr
