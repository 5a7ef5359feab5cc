// The loop nest of one task (names as in BLIS; every level's size is a knob):
//
//   for batch / for jc: blocks of columns / for pc: blocks of k
//     pack B's block into panels of nr columns             (pack_b)
//     for ic: blocks of rows
//       pack A's block into panels of mr rows              (pack_a)
//       for jt, it (order): tiles of the block             -> micro-kernel: mr x nr accumulators over kc
//
// Tiles at the lower and right edge get micro-kernels of their own (at most four in all), the last vector of
// a row masked; where masks are free the few tiles of the last rows share one, all of whose vectors are
// masked: it is a fourth of the text to compile.
#include "templates/gemm_cpu.h"

#include <algorithm>

#include "base/error.h"
#include "templates/cpu_common.h"
#include "templates/gemm_cpu_space.h"
#include "templates/register_tile.h"

namespace lehr {
namespace {

using namespace ir;
using cpu::ceil_div;

// Everything that the parts of the lowering share.
struct Lowering {
  cpu::Problem p;
  GemmCpuSchedule s;
  bool masks_are_free = false;
  KernelBuilder builder;
  cpu::Operands operands{};
  FusedEpilogue epilogue;
  BufferId a_panel{}, b_panel{};
  // Loop variables and names, outermost first.
  VarId task{}, batch{}, jc{}, pc{}, ic{}, jt{}, it{}, k0{}, column{}, row{};

  std::int64_t nr() const { return s.nv * s.lanes; }
  std::int64_t row_tiles() const { return ceil_div(p.m, s.mr); }
  std::int64_t column_tiles() const { return ceil_div(p.n, nr()); }
  std::int64_t k_blocks() const { return ceil_div(p.k, s.kc); }
  bool parallel_rows() const { return s.split == 0; }
  bool parallel_columns() const { return s.split == 1; }
  std::int64_t task_row_tiles() const { return ceil_div(row_tiles(), parallel_rows() ? s.threads : 1); }
  std::int64_t task_column_tiles() const {
    return ceil_div(column_tiles(), parallel_columns() ? s.threads : 1);
  }
  std::int64_t mc() const { return std::min(s.mc, task_row_tiles()); }
  std::int64_t nc() const { return std::min(s.nc, task_column_tiles()); }
  std::int64_t kc() const { return std::min(s.kc, p.k); }

  Expr batch_offset(std::int64_t elements) const { return p.batch == 1 ? integer(0) : var(batch) * elements; }
  // Length of the current block of k; the last one may be short.
  Expr k_extent() const {
    if (p.k % kc() == 0) return integer(kc());
    return min(integer(kc()), integer(p.k) - var(k0));
  }
  Expr a_element(Expr i, Expr k) const {
    return cpu::element(p.a, p.m, p.k, batch_offset(p.m * p.k), var(row) + std::move(i),
                        var(k0) + std::move(k));
  }
  // Distance of the rows in A's panel: whole vectors, and an odd number of cache lines so that they fall into
  // all sets.
  std::int64_t a_panel_stride() const { return ceil_div(kc(), 32) * 32 + 16; }
  std::int64_t a_panel_size() const { return p.a == Layout::kRow ? s.mr * a_panel_stride() : s.mr * kc(); }
  Expr a_panel_element(Expr tile, Expr i, Expr k) const {
    Expr base = std::move(tile) * a_panel_size();
    if (p.a == Layout::kRow) return std::move(base) + std::move(i) * a_panel_stride() + std::move(k);
    return std::move(base) + std::move(k) * s.mr + std::move(i);
  }
  Expr b_element(Expr k, Expr j) const {
    return cpu::element(p.b, p.k, p.n, batch_offset(p.k * p.n), var(k0) + std::move(k),
                        var(column) + std::move(j));
  }
};

// Panels of the block that jc and pc name: b_panel[jt][k][0..nr).
Stmt pack_b(Lowering& l, const Expr& tiles) {
  const VarId tile = l.builder.var("pb_tile");
  const VarId k = l.builder.var("pb_k");
  const VarId j = l.builder.var("pb_j");
  const std::int64_t nr = l.nr();
  const Expr panel = var(tile) * (nr * l.kc());
  const auto tile_column = [&] {
    Expr first =
        l.parallel_columns() ? cpu::first_tile(var(l.task), l.column_tiles(), l.s.threads) : integer(0);
    return (std::move(first) + var(l.jc) * l.nc() + var(tile)) * nr;
  };
  Block copy;
  copy.push_back(Let{l.column, tile_column()});
  if (l.p.b == Layout::kRow) {
    const int lanes = static_cast<int>(l.s.lanes);
    const Expr target = panel + var(k) * nr + var(j) * l.s.lanes;
    // Past the last column the panel is filled with zeros, so that the micro-kernel needs no mask on B.
    Expr value = l.p.n % nr == 0 ? load(l.operands.b, l.b_element(var(k), var(j) * l.s.lanes), lanes)
                                 : load_active(l.operands.b, l.b_element(var(k), var(j) * l.s.lanes), lanes,
                                               integer(l.p.n) - var(l.column) - var(j) * l.s.lanes);
    copy.push_back(
        loop_to(k, l.k_extent(), l.kc(),
                block(loop(j, l.s.nv, LoopKind::kUnrolled,
                           block(Store{l.b_panel, target, std::move(value), lanes, std::nullopt})))));
  } else {
    Expr columns = l.p.n % nr == 0 ? integer(nr) : min(integer(nr), integer(l.p.n) - var(l.column));
    copy.push_back(loop_to(
        j, std::move(columns), nr,
        block(loop_to(k, l.k_extent(), l.kc(),
                      block(Store{l.b_panel, panel + var(k) * nr + var(j),
                                  load(l.operands.b, l.b_element(var(k), var(j))), 1, std::nullopt})))));
  }
  return loop_to(tile, tiles, l.nc(), std::move(copy));
}

// Panels of the block that ic and pc name. A row-major A is copied row by row with whole vectors,
// a_panel[it][i][k]: it gets a row distance that spreads over the cache's sets, without a scalar
// transposition. A column-major A is contiguous in i already, a_panel[it][k][i].
Stmt pack_a(Lowering& l, const Expr& tiles) {
  const VarId tile = l.builder.var("pa_tile");
  const VarId k = l.builder.var("pa_k");
  const VarId i = l.builder.var("pa_i");
  Expr first = l.parallel_rows() ? cpu::first_tile(var(l.task), l.row_tiles(), l.s.threads) : integer(0);
  Block copy;
  copy.push_back(Let{l.row, (std::move(first) + var(l.ic) * l.mc() + var(tile)) * l.s.mr});
  Expr rows = l.p.m % l.s.mr == 0 ? integer(l.s.mr) : min(integer(l.s.mr), integer(l.p.m) - var(l.row));
  if (l.p.a == Layout::kRow) {
    const int lanes = static_cast<int>(l.s.lanes);
    const Expr at = var(k) * l.s.lanes;
    Expr value =
        l.kc() % l.s.lanes == 0 && l.p.k % l.s.lanes == 0
            ? load(l.operands.a, l.a_element(var(i), at), lanes)
            : load_active(l.operands.a, l.a_element(var(i), at), lanes, integer(l.p.k) - var(l.k0) - at);
    Stmt move =
        Store{l.a_panel, l.a_panel_element(var(tile), var(i), at), std::move(value), lanes, std::nullopt};
    copy.push_back(
        loop_to(i, std::move(rows), l.s.mr,
                block(loop(k, ceil_div(l.kc(), l.s.lanes), LoopKind::kSerial, block(std::move(move))))));
  } else {
    Stmt move = Store{l.a_panel, l.a_panel_element(var(tile), var(i), var(k)),
                      load(l.operands.a, l.a_element(var(i), var(k))), 1, std::nullopt};
    copy.push_back(
        loop_to(k, l.k_extent(), l.kc(), block(loop_to(i, std::move(rows), l.s.mr, block(std::move(move))))));
  }
  return loop_to(tile, tiles, l.mc(), std::move(copy));
}

// rows x vectors accumulators over the current block of k. `columns` <= vectors * lanes: the rest of the last
// vector is masked off. `any_edge`: the tile may reach over the right edge anywhere, so every vector has a
// mask.
Block micro_kernel(Lowering& l, std::int64_t rows, std::int64_t columns, bool any_edge) {
  cpu::RegisterTile tile(l.builder, rows, columns, l.s.lanes);
  if (any_edge) tile.mask_everywhere(integer(l.p.n) - var(l.column));
  const VarId k = l.builder.var("k");
  const VarId u = l.builder.var("u");
  const Expr k_now = l.s.ku == 1 ? var(k) : var(k) * l.s.ku + var(u);
  const auto c_at = [&](Expr column) {
    return l.batch_offset(l.p.m * l.p.n) + (var(l.row) + tile.row()) * l.p.n + var(l.column) +
           std::move(column);
  };
  const auto panel_at = [&](Expr column) {
    return var(l.jt) * (l.nr() * l.kc()) + k_now * l.nr() + std::move(column);
  };
  const auto b_at = [&](Expr column) { return l.b_element(k_now, std::move(column)); };

  Block result = block(tile.allocate());
  if (l.k_blocks() == 1) {
    result.push_back(tile.clear());
  } else {
    result.push_back(
        If{lt(var(l.pc), integer(1)), block(tile.clear()), block(tile.load_c(l.operands.c, c_at))});
  }
  Block step = block(tile.allocate_b());
  Block b_row = l.s.pack_b ? tile.load_b(l.b_panel, panel_at, false) : tile.load_b(l.operands.b, b_at, true);
  append(step, std::move(b_row));
  if (l.s.prefetch == GemmCpuSchedule::kNextTileShared) {
    const std::int64_t lines = ceil_div(ceil_div(l.nr(), cpu::kLineFloats), l.mc());
    step.push_back(tile.prefetch_b(l.operands.b, lines, [&](Expr column) {
      return l.b_element(k_now, var(l.it) * (lines * cpu::kLineFloats) + std::move(column) + l.nr());
    }));
  } else if (l.s.prefetch != 0) {
    const BufferId from = l.s.pack_b ? l.b_panel : l.operands.b;
    step.push_back(tile.prefetch_b(from, tile.lines(), [&](Expr column) {
      if (l.s.pack_b) return panel_at(std::move(column) + l.s.prefetch * l.nr());
      return l.s.prefetch == GemmCpuSchedule::kNextTile
                 ? l.b_element(k_now, std::move(column) + l.nr())
                 : l.b_element(k_now + l.s.prefetch, std::move(column));
    }));
  }
  step.push_back(tile.multiply_add(l.s.pack_a
                                       ? load(l.a_panel, l.a_panel_element(var(l.it), tile.row(), k_now))
                                       : load(l.operands.a, l.a_element(tile.row(), k_now))));
  if (l.s.ku == 1) {
    result.push_back(loop_to(k, l.k_extent(), l.kc(), std::move(step)));
  } else {
    result.push_back(loop_to(k, l.k_extent() / l.s.ku, l.kc() / l.s.ku,
                             block(loop(u, l.s.ku, LoopKind::kUnrolled, std::move(step)))));
  }
  const auto finish = [&](Expr sums, Expr column, std::optional<Expr> active) {
    return l.epilogue.of(std::move(sums),
                         cpu::place_of(l.p, var(l.row) + tile.row(), var(l.column) + column, c_at(column),
                                       static_cast<int>(l.s.lanes), std::move(active)));
  };
  if (l.p.gated) {
    const auto pair_at = [&](Expr column) {
      return l.batch_offset(l.p.m * l.p.output_columns()) + (var(l.row) + tile.row()) * l.p.output_columns() +
             var(l.column) / 2 + std::move(column);
    };
    const auto gate = [&](Expr even, Expr odd) { return l.epilogue.gate(std::move(even), std::move(odd)); };
    result.push_back(tile.store_pairs(l.builder, l.operands.c, pair_at, finish, gate));
  } else if (l.epilogue.empty() || l.k_blocks() == 1) {
    result.push_back(tile.store_c(l.operands.c, c_at, finish));
  } else {  // until the last block of k, C holds sums
    result.push_back(If{lt(var(l.pc), integer(l.k_blocks() - 1)), block(tile.store_c(l.operands.c, c_at)),
                        block(tile.store_c(l.operands.c, c_at, finish))});
  }
  return result;
}

// So many tiles of rows make it unimportant how fast the last, incomplete one is.
constexpr std::int64_t kManyRowTiles = 4;

// The tile (it, jt): picks the micro-kernel for inner and edge tiles.
Block tile_body(Lowering& l) {
  const std::int64_t full_rows = l.p.m / l.s.mr, tail_rows = l.p.m % l.s.mr;
  const std::int64_t full_columns = l.p.n / l.nr(), tail_columns = l.p.n % l.nr();
  const auto over_columns = [&](std::int64_t rows) {
    const bool is_rare = rows == tail_rows && full_rows >= kManyRowTiles;
    const bool shares = l.masks_are_free && is_rare && full_columns > 0 && tail_columns > 0;
    if (l.s.masked != 0 || shares) return micro_kernel(l, rows, l.nr(), true);
    Block inner, edge;
    if (full_columns > 0) inner = micro_kernel(l, rows, l.nr(), false);
    if (tail_columns > 0) edge = micro_kernel(l, rows, tail_columns, false);
    return cpu::by_tile(var(l.column) / l.nr(), full_columns, tail_columns, std::move(inner),
                        std::move(edge));
  };
  Block inner, edge;
  if (full_rows > 0) inner = over_columns(l.s.mr);
  if (tail_rows > 0) edge = over_columns(tail_rows);
  return cpu::by_tile(var(l.row) / l.s.mr, full_rows, tail_rows, std::move(inner), std::move(edge));
}

FamilySpace space(const Workload& workload, const Limits& limits) {
  return gemm_cpu_space(workload, limits, "gemm_cpu");
}

// Beside what all CPU families say: it takes gated pairs.
std::optional<std::string> why_not(const Workload& workload, const Limits& limits) {
  return cpu::why_not_cpu({workload.problem, {}}, limits);
}

Config default_config(const Workload& workload, const Limits& limits) {
  return gemm_cpu_default(workload, limits, "gemm_cpu");
}

}  // namespace

Kernel lower_gemm_cpu(const Workload& workload, const Config& config, const Limits& limits) {
  Lowering l;
  l.p = cpu::problem_of(workload);
  l.s = gemm_cpu_schedule(config);
  l.masks_are_free = cpu::masks_are_free(limits);
  KernelBuilder& builder = l.builder;
  builder.kernel.name = "gemm_cpu";
  builder.kernel.target = Target::kCpu;
  l.operands = cpu::add_params(builder, l.p);
  l.epilogue = FusedEpilogue(builder, workload);
  if (l.s.pack_a)
    l.a_panel = builder.buffer("a_panel", DType::kF32, Scope::kScratch, l.mc() * l.a_panel_size());
  if (l.s.pack_b)
    l.b_panel = builder.buffer("b_panel", DType::kF32, Scope::kScratch, l.nc() * l.nr() * l.kc());
  l.task = builder.var("task_index");
  l.batch = builder.var("batch");
  l.jc = builder.var("jc");
  l.pc = builder.var("pc");
  l.ic = builder.var("ic");
  l.jt = builder.var("jt");
  l.it = builder.var("it");
  l.k0 = builder.var("k0");
  l.column = builder.var("column");
  l.row = builder.var("row");

  const std::int64_t threads = l.s.threads;
  const auto range = [&](bool parallel, std::int64_t tiles) {
    const Expr first = parallel ? cpu::first_tile(var(l.task), tiles, threads) : integer(0);
    const Expr end = parallel ? cpu::first_tile(var(l.task) + 1, tiles, threads) : integer(tiles);
    return std::pair(first, end);
  };
  const auto [first_row_tile, end_row_tile] = range(l.parallel_rows(), l.row_tiles());
  const auto [first_column_tile, end_column_tile] = range(l.parallel_columns(), l.column_tiles());
  const bool even_rows = !l.parallel_rows() || l.row_tiles() % threads == 0;
  const bool even_columns = !l.parallel_columns() || l.column_tiles() % threads == 0;
  const Expr row_tiles_now =
      cpu::tiles_in_block(first_row_tile, end_row_tile, l.task_row_tiles(), even_rows, var(l.ic), l.mc());
  const Expr column_tiles_now = cpu::tiles_in_block(first_column_tile, end_column_tile, l.task_column_tiles(),
                                                    even_columns, var(l.jc), l.nc());

  const Stmt let_column = Let{l.column, (first_column_tile + var(l.jc) * l.nc() + var(l.jt)) * l.nr()};
  const Stmt let_row = Let{l.row, (first_row_tile + var(l.ic) * l.mc() + var(l.it)) * l.s.mr};
  Block tiles;
  if (l.s.order == 0) {  // a tile of columns stays in L1 while the rows pass
    Block inner = tile_body(l);
    inner.insert(inner.begin(), let_row);
    tiles = block(loop_to(l.jt, column_tiles_now, l.nc(),
                          block(let_column, loop_to(l.it, row_tiles_now, l.mc(), std::move(inner)))));
  } else {  // a tile of rows stays while the columns pass
    Block inner = tile_body(l);
    inner.insert(inner.begin(), let_column);
    tiles = block(loop_to(l.it, row_tiles_now, l.mc(),
                          block(let_row, loop_to(l.jt, column_tiles_now, l.nc(), std::move(inner)))));
  }
  if (l.s.pack_a) tiles.insert(tiles.begin(), pack_a(l, row_tiles_now));
  Block k_body = block(Let{l.k0, var(l.pc) * l.kc()});
  if (l.s.pack_b) k_body.push_back(pack_b(l, column_tiles_now));
  k_body.push_back(loop(l.ic, ceil_div(l.task_row_tiles(), l.mc()), LoopKind::kSerial, std::move(tiles)));
  Block body = block(loop(l.jc, ceil_div(l.task_column_tiles(), l.nc()), LoopKind::kSerial,
                          block(loop(l.pc, l.k_blocks(), LoopKind::kSerial, std::move(k_body)))));
  body = cpu::over_parts(l.p.batch, l.s.split == 2, l.batch, l.task, std::move(body));
  if (l.s.pack_b) body.insert(body.begin(), Alloc{l.b_panel});
  if (l.s.pack_a) body.insert(body.begin(), Alloc{l.a_panel});
  const std::int64_t tasks = l.s.split == 2 ? l.p.batch : threads;
  builder.kernel.body = block(loop(l.task, tasks, LoopKind::kParallel, std::move(body)));
  return std::move(builder.kernel);
}

Template gemm_cpu_template() {
  return {"gemm_cpu", 2, why_not, space, lower_gemm_cpu, default_config};
}

}  // namespace lehr
