// Lowering: block raster, main loop over tiles of k (register prefetch or cp.async), fragments and
// multiply-adds, store.
#include "templates/gemm_simt.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "templates/gemm_simt_copy.h"
#include "templates/gemm_simt_space.h"

namespace lehr {
namespace {

using namespace ir;
using cpu::ceil_div;

constexpr std::int64_t kMaxBatch = 65535;  // gridDim.z: CUDA C++ Programming Guide, technical specifications

void append(Block& to, Block from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

/// Elements of a fragment that lie side by side: one vector load from shared memory.
std::int64_t fragment_width(std::int64_t thread_tile) {
  return std::min<std::int64_t>(thread_tile, 4);
}

class Lowering {
 public:
  Lowering(const Workload& workload, const Config& config)
      : p_(cpu::problem_of(workload)), s_(gemm_simt_schedule(config)) {
    builder_.kernel.name = "gemm_simt";
    builder_.kernel.target = Target::kCuda;
    builder_.kernel.min_blocks_per_core = static_cast<int>(s_.min_blocks);
    operands_ = cpu::add_params(builder_, p_);
    block_ = builder_.var("block");
    batch_ = builder_.var("batch");
    thread_ = builder_.var("thread");
    m0_ = builder_.var("m0");
    n0_ = builder_.var("n0");
    row_ = builder_.var("row_in");
    column_ = builder_.var("column_in");
    a_ = operand("a", operands_.a, p_.a, gemm_simt_copy_a(p_, s_), true);
    b_ = operand("b", operands_.b, p_.b, gemm_simt_copy_b(p_, s_), false);
    acc_ = builder_.buffer("acc", DType::kF32, Scope::kRegister, s_.tm * s_.tn);
    a_fragment_ = builder_.buffer("a_frag", DType::kF32, Scope::kRegister, s_.frag_buffers * s_.tm);
    b_fragment_ = builder_.buffer("b_frag", DType::kF32, Scope::kRegister, s_.frag_buffers * s_.tn);
  }

  Kernel kernel() {
    Block body = positions();
    for (const BufferId buffer : {a_.shared, b_.shared, acc_, a_fragment_, b_fragment_})
      body.push_back(Alloc{buffer});
    if (s_.async == 0) append(body, block(Alloc{a_.in_flight}, Alloc{b_.in_flight}));
    append(body, clear());
    append(body, s_.async == 1 ? async_main_loop() : prefetch_main_loop());
    append(body, store());
    Block grid = block(loop(thread_, s_.threads(), LoopKind::kThreadX, std::move(body)));
    grid = block(loop(block_, tiles_m() * tiles_n(), LoopKind::kBlockX, std::move(grid)));
    if (p_.batch > 1) grid = block(loop(batch_, p_.batch, LoopKind::kBlockZ, std::move(grid)));
    builder_.kernel.body = std::move(grid);
    return std::move(builder_.kernel);
  }

 private:
  std::int64_t tiles_m() const { return ceil_div(p_.m, s_.bm); }
  std::int64_t tiles_n() const { return ceil_div(p_.n, s_.bn); }
  std::int64_t tiles_k() const { return ceil_div(p_.k, s_.bk); }

  GemmSimtOperand operand(const std::string& name, BufferId global, Layout layout, GemmSimtCopy copy,
                          bool is_a) {
    GemmSimtOperand operand;
    operand.copy = copy;
    operand.layout = layout;
    operand.is_a = is_a;
    operand.global = global;
    operand.name = name;
    operand.shared =
        builder_.buffer(name + "_tile", DType::kF32, Scope::kShared, s_.stages * s_.bk * copy.stride);
    if (s_.async == 0) {
      operand.in_flight =
          builder_.buffer(name + "_next", DType::kF32, Scope::kRegister, copy.loads() * copy.vec);
    }
    operand.k_in = builder_.var(name + "_k");
    operand.x_in = builder_.var(name + (is_a ? "_m" : "_n"));
    return operand;
  }

  /// m0, n0 of the block and the thread's places in the tiles. Blocks that run at the same time should share
  /// rows of A and columns of B in the L2: `raster` rows of tiles are walked column by column.
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
    const Expr warp = var(thread_) / 32;
    const Expr lane = var(thread_) % 32;
    Block result = block(
        Let{m0_, std::move(tile_m) * s_.bm}, Let{n0_, std::move(tile_n) * s_.bn},
        Let{row_, warp / s_.warps_n() * (s_.lanes_m * s_.tm) + lane / s_.lanes_n() * fragment_width(s_.tm)},
        Let{column_,
            warp % s_.warps_n() * (s_.lanes_n() * s_.tn) + lane % s_.lanes_n() * fragment_width(s_.tn)});
    append(result, gemm_simt_positions(a_, thread_));
    append(result, gemm_simt_positions(b_, thread_));
    return result;
  }

  GemmSimtCorner corner_a(const Expr& tile) const { return {matrix(p_.m * p_.k), tile * s_.bk, var(m0_)}; }
  GemmSimtCorner corner_b(const Expr& tile) const { return {matrix(p_.k * p_.n), tile * s_.bk, var(n0_)}; }
  /// First element of this block's matrix of the batch.
  Expr matrix(std::int64_t elements) const { return p_.batch > 1 ? var(batch_) * elements : integer(0); }

  Block clear() {
    const VarId i = builder_.var("i");
    return block(loop(i, s_.tm * s_.tn, LoopKind::kUnrolled,
                      block(Store{acc_, var(i), zero(DType::kF32), 1, std::nullopt})));
  }

  Block load_tile(const Expr& tile) {
    Block result = gemm_simt_load(builder_, a_, thread_, corner_a(tile));
    append(result, gemm_simt_load(builder_, b_, thread_, corner_b(tile)));
    return result;
  }
  Block store_tile(const Expr& stage) {
    Block result = gemm_simt_store(builder_, a_, thread_, stage * (s_.bk * a_.copy.stride));
    append(result, gemm_simt_store(builder_, b_, thread_, stage * (s_.bk * b_.copy.stride)));
    return result;
  }
  Block copy_tile_async(const Expr& tile, const Expr& stage) {
    Block result =
        gemm_simt_copy_async(builder_, a_, thread_, corner_a(tile), stage * (s_.bk * a_.copy.stride));
    append(result,
           gemm_simt_copy_async(builder_, b_, thread_, corner_b(tile), stage * (s_.bk * b_.copy.stride)));
    return result;
  }

  /// Global loads of the next tile are in flight while this one is computed. With two stages, one barrier per
  /// tile is enough: the stage that is written was last read before the barrier that ended the previous
  /// iteration.
  Block prefetch_main_loop() {
    Block result = load_tile(integer(0));
    append(result, store_tile(integer(0)));
    result.push_back(Barrier{});
    const VarId tile = builder_.var("tile");
    const auto stage = [&](Expr index) { return s_.stages == 1 ? integer(0) : std::move(index) % s_.stages; };
    if (tiles_k() == 1) {
      append(result, compute(integer(0)));
      return result;
    }
    const VarId now = builder_.var("stage");
    const Expr more = lt(var(tile), integer(tiles_k() - 1));
    Block body = block(If{more, load_tile(var(tile) + 1), {}});
    if (s_.stages > 1) body.push_back(Let{now, stage(var(tile))});
    append(body, compute(s_.stages == 1 ? integer(0) : var(now)));
    if (s_.stages == 1) body.push_back(Barrier{});
    body.push_back(If{more, store_tile(stage(var(tile) + 1)), {}});
    body.push_back(Barrier{});
    result.push_back(loop(tile, tiles_k(), LoopKind::kSerial, std::move(body)));
    return result;
  }

  /// stages - 1 tiles are in flight. A group is committed in every iteration, empty at the end, so that the
  /// number of groups to leave pending is a constant. The barrier behind the wait serves two ends: the tile
  /// is complete for all threads, and the stage that the next copy overwrites has been read by all.
  Block async_main_loop() {
    const std::int64_t ahead = s_.stages - 1;
    Block result;
    for (std::int64_t tile = 0; tile < ahead; ++tile) {
      if (tile < tiles_k()) append(result, copy_tile_async(integer(tile), integer(tile)));
      result.push_back(Intrinsic{"cp_async_commit", {}, {}, 0});
    }
    const VarId tile = builder_.var("tile");
    const VarId stage = builder_.var("stage");
    Block body = block(Intrinsic{"cp_async_wait", {}, {integer(ahead - 1)}, 0}, Barrier{});
    if (tiles_k() > ahead) {
      Block copies = copy_tile_async(var(tile) + ahead, (var(tile) + ahead) % s_.stages);
      body.push_back(If{lt(var(tile), integer(tiles_k() - ahead)), std::move(copies), {}});
    }
    body.push_back(Intrinsic{"cp_async_commit", {}, {}, 0});
    body.push_back(Let{stage, var(tile) % s_.stages});
    append(body, compute(var(stage)));
    result.push_back(loop(tile, tiles_k(), LoopKind::kSerial, std::move(body)));
    return result;
  }

  /// Fragments of one k of the tile at `stage`, into the buffer that `turn` (a constant once unrolled)
  /// selects.
  Block load_fragments(const Expr& stage, const Expr& k, const Expr& turn) {
    const auto one = [&](const GemmSimtOperand& from, BufferId to, std::int64_t thread_tile,
                         std::int64_t lanes, VarId place) {
      const std::int64_t width = fragment_width(thread_tile);
      const VarId f = builder_.var("f");
      Expr index =
          stage * (s_.bk * from.copy.stride) + k * from.copy.stride + var(place) + var(f) * (lanes * width);
      return loop(f, thread_tile / width, LoopKind::kUnrolled,
                  block(Store{to, turn * thread_tile + var(f) * width,
                              load(from.shared, std::move(index), static_cast<int>(width)),
                              static_cast<int>(width), std::nullopt}));
    };
    return block(one(a_, a_fragment_, s_.tm, s_.lanes_m, row_),
                 one(b_, b_fragment_, s_.tn, s_.lanes_n(), column_));
  }

  Block multiply_add(const Expr& turn) {
    const VarId i = builder_.var("i");
    const VarId j = builder_.var("j");
    const Expr place = var(i) * s_.tn + var(j);
    Expr sum = fma(load(a_fragment_, turn * s_.tm + var(i)), load(b_fragment_, turn * s_.tn + var(j)),
                   load(acc_, place));
    Block inner = block(
        loop(j, s_.tn, LoopKind::kUnrolled, block(Store{acc_, place, std::move(sum), 1, std::nullopt})));
    return block(loop(i, s_.tm, LoopKind::kUnrolled, std::move(inner)));
  }

  /// acc += A tile * B tile, `unroll` steps of k at a time.
  Block compute(const Expr& stage) {
    const VarId ko = builder_.var("ko");
    const VarId ki = builder_.var("ki");
    const bool whole = s_.unroll == s_.bk;
    const Expr k = whole ? var(ki) : var(ko) * s_.unroll + var(ki);
    Block step;
    if (s_.frag_buffers == 2) {
      const Expr next = k + 1;
      step.push_back(If{lt(next, integer(s_.bk)), load_fragments(stage, next, (var(ki) + 1) % 2), {}});
      append(step, multiply_add(var(ki) % 2));
    } else {
      step = load_fragments(stage, k, integer(0));
      append(step, multiply_add(integer(0)));
    }
    Block steps = block(loop(ki, s_.unroll, LoopKind::kUnrolled, std::move(step)));
    if (!whole) steps = block(loop(ko, s_.bk / s_.unroll, LoopKind::kSerial, std::move(steps)));
    if (s_.frag_buffers == 2) {
      Block result = load_fragments(stage, integer(0), integer(0));
      append(result, std::move(steps));
      return result;
    }
    return steps;
  }

  /// Accumulators to C. Lanes side by side in a warp write columns side by side.
  Block store() {
    const std::int64_t height = fragment_width(s_.tm);
    const std::int64_t width = fragment_width(s_.tn);
    std::int64_t vec = width;
    while (p_.n % vec != 0) vec /= 2;
    const VarId fi = builder_.var("fi");
    const VarId r = builder_.var("r");
    const VarId fj = builder_.var("fj");
    const VarId part = builder_.var("part");
    const VarId row = builder_.var("row");
    const VarId column = builder_.var("column");
    Expr value = load(acc_, (var(fi) * height + var(r)) * s_.tn + var(fj) * width + var(part) * vec,
                      static_cast<int>(vec));
    Expr index = matrix(p_.m * p_.n) + var(row) * p_.n + var(column);
    Block inner =
        block(Store{operands_.c, std::move(index), std::move(value), static_cast<int>(vec), std::nullopt});
    if (p_.n % s_.bn != 0) inner = block(If{lt(var(column), integer(p_.n)), std::move(inner), {}});
    inner.insert(inner.begin(),
                 Let{column, var(n0_) + var(column_) + var(fj) * (s_.lanes_n() * width) + var(part) * vec});
    inner = block(loop(part, width / vec, LoopKind::kUnrolled, std::move(inner)));
    inner = block(loop(fj, s_.tn / width, LoopKind::kUnrolled, std::move(inner)));
    if (p_.m % s_.bm != 0) inner = block(If{lt(var(row), integer(p_.m)), std::move(inner), {}});
    inner.insert(inner.begin(), Let{row, var(m0_) + var(row_) + var(fi) * (s_.lanes_m * height) + var(r)});
    inner = block(loop(r, height, LoopKind::kUnrolled, std::move(inner)));
    return block(loop(fi, s_.tm / height, LoopKind::kUnrolled, std::move(inner)));
  }

  cpu::Problem p_;
  GemmSimtSchedule s_;
  KernelBuilder builder_;
  cpu::Operands operands_{};
  GemmSimtOperand a_, b_;
  VarId block_{}, batch_{}, thread_{}, m0_{}, n0_{}, row_{}, column_{};
  BufferId acc_{}, a_fragment_{}, b_fragment_{};
};

std::optional<std::string> why_not(const Workload& workload, const Limits& limits) {
  const Gemm& g = workload.gemm;
  if (limits.target != Target::kCuda) return "it is for CUDA devices";
  for (const DType type : {g.a.type, g.b.type, g.c.type, g.accum}) {
    if (type != DType::kF32) return fmt::format("it computes in f32 only, not {}", name_of(type));
  }
  if (g.batch > kMaxBatch)
    return fmt::format("a grid holds {} matrices of a batch at most, not {}", kMaxBatch, g.batch);
  // A block tile reaches beyond the matrix; the index of what it does not touch must not overflow 32 bits
  // either.
  const auto reach = [&](std::int64_t rows, std::int64_t columns) {
    return g.batch * rows * columns + 256 * (rows + columns) + 256 * 256;
  };
  if (std::max({reach(g.m, g.k), reach(g.k, g.n), reach(g.m, g.n)}) > INT32_MAX) {
    return "an operand is too large for 32-bit indices";
  }
  return std::nullopt;
}

Kernel lower_gemm_simt(const Workload& workload, const Config& config, const Limits&) {
  return Lowering(workload, config).kernel();
}

}  // namespace

Template gemm_simt_template() {
  return {.name = "gemm_simt",
          .version = 1,
          .why_not = why_not,
          .space = gemm_simt_space,
          .lower = lower_gemm_simt,
          .default_config = gemm_simt_default};
}

}  // namespace lehr
