// Tiles at the lower and right edge have micro-kernels of their own (at most four in all), in which the last
// vector of a row is masked. If masks are free, the few tiles of the last rows share one micro-kernel in
// which all vectors are masked: that is a fourth of the text to compile.
#include "templates/gemm/cpu/gemm_cpu_nest.h"

#include <utility>

#include "templates/shared/register_tile.h"

namespace lehr::cpu {

using namespace ir;

namespace {

/// Tiles of a block of rows or columns: the number of the first tile, and how many tiles the block has.
struct Tiles {
  Expr first, now;
};
/// Tiles of a work item: [first, end).
struct PartTiles {
  Expr first, end;
  bool even;  ///< whether all work items have the same number of tiles
};
PartTiles part_tiles(const GemmNest& n, bool shared, const Expr& tiles) {
  const auto count = as_constant(tiles);
  if (!shared) return {integer(0), tiles, count.has_value()};
  return {first_tile(var(n.work_item), tiles, n.s.threads),
          first_tile(var(n.work_item) + 1, tiles, n.s.threads), count && *count % n.s.threads == 0};
}
PartTiles part_rows(const GemmNest& n) {
  const Expr tiles = n.any_rows() ? (n.row_count() + (n.s.mr - 1)) / n.s.mr : integer(n.row_tiles());
  return part_tiles(n, n.s.split == 0, tiles);
}
Tiles tiles_of(const PartTiles& work_item, std::int64_t owned, VarId block, std::int64_t of_block) {
  return {work_item.first + var(block) * of_block,
          tiles_in_block(work_item.first, work_item.end, owned, work_item.even, var(block), of_block)};
}
Tiles rows_of(const GemmNest& n) {
  return tiles_of(part_rows(n), n.part_row_tiles(), n.ic, n.mc());
}
Tiles columns_of(const GemmNest& n) {
  return tiles_of(part_tiles(n, n.s.split == 1, integer(n.column_tiles())), n.part_column_tiles(), n.jc,
                  n.nc());
}
/// Returns a loop over the blocks of rows of a work item.
Stmt over_row_blocks(const GemmNest& n, Block body) {
  const std::int64_t blocks = ceil_div(n.part_row_tiles(), n.mc());
  if (!n.any_rows() || blocks == 1) return loop(n.ic, blocks, LoopKind::kSerial, std::move(body));
  const PartTiles work_item = part_rows(n);
  return loop_to(n.ic, (work_item.end - work_item.first + (n.mc() - 1)) / n.mc(),
                 ceil_div(n.usual_part_row_tiles(), n.mc()), std::move(body));
}

Stmt prefetch(const GemmNest& n, const RegisterTile& tile, const Expr& k) {
  if (n.s.prefetch == GemmCpuSchedule::kNextTileShared) {
    const std::int64_t lines = ceil_div(ceil_div(n.nr(), kLineFloats), n.mc());
    return tile.prefetch_b(n.b, lines, [&](Expr column) {
      return n.b_at(k, var(n.it) * (lines * kLineFloats) + column + n.next_tile);
    });
  }
  return tile.prefetch_b(n.b, tile.lines(), [&](Expr column) {
    if (n.b_in_panels) return n.b_at(k, column + n.s.prefetch * n.nr());
    return n.s.prefetch == GemmCpuSchedule::kNextTile ? n.b_at(k, column + n.nr())
                                                      : n.b_at(k + n.s.prefetch, column);
  });
}

// Computes rows x vectors accumulators for the current block of k. `columns` <= vectors * lanes: the rest of
// the last vector is masked. `any_edge`: the tile may extend beyond the right edge at any column, so every
// vector is masked. `last_rows`: the tile may extend beyond the last row.
Block micro_kernel(GemmNest& n, std::int64_t rows, std::int64_t columns, bool any_edge, bool last_rows) {
  RegisterTile tile(n.builder, rows, columns, n.s.lanes, *n.form);
  if (any_edge) tile.mask_everywhere(integer(n.p.n) - var(n.column));
  const VarId last = last_rows ? n.builder.var("last_row") : VarId{};
  if (last_rows) tile.end_rows_at(var(last));
  const VarId k = n.builder.var("k");
  const VarId u = n.builder.var("u");
  const Expr k_now = n.s.ku == 1 ? var(k) : var(k) * n.s.ku + var(u);
  const auto c_at = [&](const Expr& column) {
    return n.c_at(var(n.row) + tile.row(), var(n.column)) + column;
  };

  Block result = block(tile.allocate());
  if (last_rows) result.push_front(Let{last, n.row_count() - 1 - var(n.row)});
  RegisterTile::At first;
  if (n.correction.needed())
    first = [&n](const Expr& column) {
      const int lanes = static_cast<int>(n.s.lanes);
      return n.correction.corrected(zero(n.form->sums, lanes), n.sums_of_b(column), lanes);
    };
  if (n.k_blocks() == 1) {
    result.push_back(tile.clear(first));
  } else {
    result.push_back(If{lt(var(n.pc), integer(1)), block(tile.clear(first)), block(tile.load_c(n.c, c_at))});
  }
  Block beside;
  if (n.s.prefetch != GemmCpuSchedule::kNoPrefetch) beside.push_back(prefetch(n, tile, k_now));
  const Block step = tile.step(
      n.builder, n.b, [&](const Expr& column) { return n.b_at(k_now, column); },
      !n.b_in_panels && (!n.b_is_whole || any_edge), n.a_at(tile.row(), k_now), beside);
  if (n.s.ku == 1) {
    result.push_back(loop_to(k, n.k_extent(), n.kc(), step));
  } else {
    result.push_back(loop_to(k, n.k_extent() / n.s.ku, n.kc() / n.s.ku,
                             block(loop(u, n.s.ku, LoopKind::kUnrolled, step))));
  }
  const auto finished = [&](Expr sums, const Expr& column, std::optional<Expr> active) {
    return n.epilogue.of(std::move(sums),
                         n.place(var(n.row) + tile.row(), var(n.column) + column, c_at(column), active));
  };
  const auto finish = [&](Expr sums, const Expr& column, std::optional<Expr> active) {
    return n.epilogue.stored(finished(std::move(sums), column, std::move(active)));
  };
  if (n.p.gated) {
    const auto pair_at = [&](const Expr& column) {
      return n.c_at(var(n.row) + tile.row(), var(n.column) / 2) + column;
    };
    const auto gate = [&](Expr even, Expr odd) { return n.epilogue.stored(n.epilogue.gate(even, odd)); };
    result.push_back(tile.store_pairs(n.builder, n.c, pair_at, finished, gate));
  } else if (n.epilogue.empty() || n.k_blocks() == 1) {
    result.push_back(tile.store_c(n.c, c_at, finish));
  } else {  // until the last block of k, C holds the sums
    result.push_back(If{lt(var(n.pc), integer(n.k_blocks() - 1)), block(tile.store_c(n.c, c_at)),
                        block(tile.store_c(n.c, c_at, finish))});
  }
  return result;
}

// From this number of tiles of rows on, it does not matter how fast the last, incomplete tile is.
constexpr std::int64_t kManyRowTiles = 4;

// Returns a loop over the tiles of columns; the tiles have `rows` rows.
Block over_columns(GemmNest& n, std::int64_t rows, bool is_rare, bool last_rows) {
  const std::int64_t full_columns = n.p.n / n.nr(), tail_columns = n.p.n % n.nr();
  const bool shares =
      n.masks_are_free && n.form->is_plain() && is_rare && full_columns > 0 && tail_columns > 0;
  if (n.s.masked != 0 || shares) return micro_kernel(n, rows, n.nr(), true, last_rows);
  Block inner, edge;
  if (full_columns > 0) inner = micro_kernel(n, rows, n.nr(), false, last_rows);
  if (tail_columns > 0) edge = micro_kernel(n, rows, tail_columns, false, last_rows);
  return by_tile(var(n.column) / n.nr(), full_columns, tail_columns, inner, edge);
}

// Returns the code for tile (it, jt). It selects the micro-kernel for inner tiles or that for edge tiles.
Block tile_body(GemmNest& n) {
  const std::int64_t full_rows = n.p.m / n.s.mr, tail_rows = n.p.m % n.s.mr;
  const bool tail_is_rare = full_rows >= kManyRowTiles;
  Block inner, edge;
  if (full_rows > 0) inner = over_columns(n, n.s.mr, false, false);
  if (n.any_rows()) {
    if (n.s.mr == 1) return inner;
    edge = over_columns(n, n.s.mr, tail_is_rare, true);
    return block(If{le(var(n.row) + n.s.mr, n.row_count()), inner, edge});
  }
  if (tail_rows > 0) edge = over_columns(n, tail_rows, tail_is_rare, false);
  return by_tile(var(n.row) / n.s.mr, full_rows, tail_rows, inner, edge);
}

}  // namespace

Expr GemmNest::k_extent() const {
  if (p.k % kc() == 0) return integer(kc());
  return min(integer(kc()), integer(p.k) - var(k0));
}
Expr GemmNest::row_of(const Expr& tile) const {
  return (rows_of(*this).first + tile) * s.mr;
}
Expr GemmNest::column_of(const Expr& tile) const {
  return (columns_of(*this).first + tile) * nr();
}

void init(GemmNest& nest, const char* name) {
  nest.builder.kernel.name = name;
  nest.builder.kernel.target = Target::kCpu;
  nest.builder.make_vars({{nest.work_item, "task_index"},
                          {nest.batch, "batch"},
                          {nest.jc, "jc"},
                          {nest.pc, "pc"},
                          {nest.ic, "ic"},
                          {nest.jt, "jt"},
                          {nest.it, "it"},
                          {nest.k0, "k0"},
                          {nest.column, "column"},
                          {nest.row, "row"}});
  if (!nest.any_rows()) return;
  nest.rows = nest.builder.var("rows");
  nest.builder.kernel.rows = Rows{nest.rows, nest.p.m, nest.p.usual_rows};
}

Kernel kernel_of(GemmNest& n) {
  const Expr row_tiles = rows_of(n).now, column_tiles = columns_of(n).now;
  const Stmt let_column = Let{n.column, n.column_of(var(n.jt))};
  const Stmt let_row = Let{n.row, n.row_of(var(n.it))};
  Block tiles;
  Block inner = tile_body(n);
  if (n.s.order == 0) {  // a tile of columns stays in L1 while the tiles of rows pass
    inner.push_front(let_row);
    tiles = block(loop_to(n.jt, column_tiles, n.nc(),
                          block(let_column, loop_to(n.it, row_tiles, n.usual_mc(), inner))));
  } else {  // a tile of rows stays in L1 while the tiles of columns pass
    inner.push_front(let_column);
    tiles = block(
        loop_to(n.it, row_tiles, n.usual_mc(), block(let_row, loop_to(n.jt, column_tiles, n.nc(), inner))));
  }
  if (n.pack_a) tiles.push_front(n.pack_a(row_tiles));
  Block k_body = block(Let{n.k0, var(n.pc) * n.kc()});
  if (n.pack_b) k_body.push_back(n.pack_b(column_tiles));
  k_body.push_back(over_row_blocks(n, tiles));
  Block of_columns = n.before_columns ? n.before_columns() : Block();
  of_columns.push_back(loop(n.pc, n.k_blocks(), LoopKind::kSerial, k_body));
  Block body = block(loop(n.jc, ceil_div(n.part_column_tiles(), n.nc()), LoopKind::kSerial, of_columns));
  if (n.any_rows() && n.s.split == 0 && n.s.threads > 1) {  // a work item without rows must not pack anything
    const PartTiles work_item = part_rows(n);
    body = block(If{lt(work_item.first, work_item.end), body, {}});
  }
  body = over_items(n.p.batch, n.s.split == 2, n.batch, n.work_item, body);
  Block of_work_item;
  for (const BufferId buffer : n.scratch) of_work_item.push_back(Alloc{buffer});
  append(of_work_item, n.at_start);
  append(of_work_item, body);
  const std::int64_t work_items = n.s.split == 2 ? n.p.batch : n.s.threads;
  n.builder.kernel.body = block(loop(n.work_item, work_items, LoopKind::kParallel, of_work_item));
  return std::move(n.builder.kernel);
}

}  // namespace lehr::cpu
