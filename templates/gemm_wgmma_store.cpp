// The fragments are those of gemm_wgmma_write.cpp; the swizzle that of the tensor map: 16-byte chunk c of row
// r of a box lies at chunk c ^ r % 8 for rows of 128 bytes, c ^ r / 2 % 4 for 64, c ^ r / 4 % 2 for 32 (CUDA
// Driver API, CUtensorMapSwizzle). Eight rows of a warp's store then fall into different banks.
#include "templates/gemm_wgmma_store.h"

#include <iterator>
#include <utility>

#include "templates/gemm_wgmma_copy.h"

namespace lehr {

using namespace ir;

namespace {

/// By one thread of the consumer: the same one issues, commits and waits.
Block lead(KernelBuilder& b, const GemmWgmmaSchedule& s, const GemmWgmmaOutput& out, Block body) {
  return gemm_wgmma_by_one(b, eq(var(out.thread) / 32 % 4, integer(0)), s.consumers, std::move(body));
}
Stmt named_barrier(const GemmWgmmaOutput& out) {
  return Intrinsic{"named_barrier", {}, {var(out.consumer) + 1}, 0};
}
Stmt wait_for_stores() {
  return Intrinsic{"tma_store_wait", {}, {integer(0)}, 0};
}

}  // namespace

TensorMap gemm_wgmma_store_map(const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s) {
  const GemmWgmmaStage stage = gemm_wgmma_stage(p, s);
  const bool batched = p.size.batch > 1;
  TensorMap map;
  map.rank = batched ? 3 : 2;
  map.dims = {p.size.n, p.size.m, batched ? p.size.batch : 0};
  map.strides = {1, p.size.n, batched ? p.size.m * p.size.n : 0};
  map.box = {stage.box_columns, stage.rows, batched ? 1 : 0};
  map.swizzle = stage.span;
  return map;
}

Block gemm_wgmma_store(KernelBuilder& b, const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s,
                       const GemmWgmmaOutput& out, BufferId tile, bool reused, const Expr& matrix) {
  const GemmWgmmaStage stage = gemm_wgmma_stage(p, s);
  const std::int64_t chunk = 16 / size_of(p.output);  // elements
  const std::int64_t chunks = stage.box_columns / chunk;
  const bool by_matrix = s.store == 2;
  const VarId i = b.var("i");
  const VarId half = b.var(by_matrix ? "matrix" : "half");
  const VarId j = b.var("j");
  // Of a group of eight columns, a thread has two; what of their place depends on the thread alone is named
  // once, so that the rest is constants: row % 8 is lane / 4. stmatrix stores four matrices of 8 x 8: two
  // groups, and of each rows 0 to 7 and 8 to 15; lane l gives the address of row l % 8 of matrix l / 8.
  const VarId first = b.var("first");
  const VarId swizzle = b.var("swizzle");
  const Expr in_group = var(out.lane) % 4 * 2;
  const Expr group = by_matrix ? var(j) * 2 + var(half) / 2 : Expr(Var{j});
  const Expr lower = by_matrix ? var(half) % 2 : Expr(Var{half});
  const Expr sum = var(i) * (s.bn / 2) + group * 4 + lower * 2;
  const std::int64_t columns = by_matrix ? 16 : 8;  // that one step of j takes
  const Expr chunk_of_box = bit_xor(var(j) * (columns / chunk) % chunks, var(swizzle));
  const Expr row_of_step = by_matrix ? var(i) * 64 : var(i) * 64 + var(half) * 8;
  const Expr index = var(first) + row_of_step * stage.box_columns +
                     var(j) * columns / stage.box_columns * stage.box_elements() + chunk_of_box * chunk;
  const Expr own = s.ping_pong == 1 ? integer(0) : var(out.consumer) * s.consumer_rows();
  const Expr first_row = var(out.row0) + own;
  const Expr row = var(out.thread) / 32 % 4 * 16 + var(out.lane) / 4;
  Block finish;
  if (!out.epilogue.empty()) {  // its operands exist inside C only; a pair of columns is inside or outside
    const VarId row_of_c = b.var("row");
    const VarId column_of_c = b.var("column");
    finish = gemm_wgmma_epilogue(b, p, s, out, sum, var(row_of_c), var(column_of_c), 2);
    const bool whole_rows = p.size.m % s.bm == 0, whole_columns = p.size.n % s.bn == 0;
    if (!whole_columns) finish = block(If{lt(var(column_of_c), integer(p.size.n)), std::move(finish), {}});
    if (!whole_rows) finish = block(If{lt(var(row_of_c), integer(p.size.m)), std::move(finish), {}});
    finish.insert(finish.begin(), Let{column_of_c, var(out.column0) + in_group + group * 8});
    finish.insert(finish.begin(), Let{row_of_c, first_row + row + var(i) * 64 + lower * 8});
  }
  Block body;
  if (p.output == p.accum) {
    body = block(Store{tile, index, load(out.accumulators, sum, 2), 2, std::nullopt});
  } else {
    const VarId e = b.var("e");
    const Expr to = by_matrix ? var(half) * 2 + var(e) : Expr(Var{e});
    body = block(loop(e, 2, LoopKind::kUnrolled,
                      block(Store{out.converted, to, cast(p.output, load(out.accumulators, sum + var(e))), 1,
                                  std::nullopt})));
    if (!by_matrix) body.push_back(Store{tile, index, load(out.converted, integer(0), 2), 2, std::nullopt});
  }
  body.insert(body.begin(), std::make_move_iterator(finish.begin()), std::make_move_iterator(finish.end()));
  if (by_matrix) {
    body = block(
        loop(half, 4, LoopKind::kUnrolled, std::move(body)),
        Intrinsic{
            "stmatrix_x4", {Touch{tile, index, 8, true}, Touch{out.converted, integer(0), 8, false}}, {}, 0});
    body = block(loop(j, s.bn / 16, LoopKind::kUnrolled, std::move(body)));
  } else {
    body = block(loop(j, s.bn / 8, LoopKind::kUnrolled, std::move(body)));
    body = block(loop(half, 2, LoopKind::kUnrolled, std::move(body)));
  }

  Block result;
  if (reused) {
    result = lead(b, s, out, block(wait_for_stores()));
    result.push_back(named_barrier(out));
  }
  const Expr part = var(out.consumer) * stage.part_elements();
  if (by_matrix) {
    const Expr row_of_lane = var(out.thread) / 32 % 4 * 16 + var(out.lane) % 16;
    result.push_back(Let{first, part + row_of_lane * stage.box_columns});
    result.push_back(Let{swizzle, bit_xor(var(out.lane) / 16, var(out.lane) % 8 / (8 / chunks) % chunks)});
  } else {
    result.push_back(Let{first, part + row * stage.box_columns + in_group % chunk});
    result.push_back(Let{swizzle, bit_xor(in_group / chunk, var(out.lane) / 4 / (8 / chunks) % chunks)});
  }
  if (p.output != p.accum) result.push_back(Alloc{out.converted});
  result.push_back(loop(i, stage.rows / 64, LoopKind::kUnrolled, std::move(body)));
  result.push_back(Intrinsic{"async_proxy_fence", {}, {}, 0});
  result.push_back(named_barrier(out));

  const VarId box = b.var("box");
  const Expr first_column = var(out.column0) + var(box) * stage.box_columns;
  Intrinsic store;
  store.name = p.size.batch > 1 ? "tma_store_3d" : "tma_store_2d";
  const bool partial = p.size.m % s.bm != 0 || p.size.n % s.bn != 0;
  store.touches = {Touch{tile, part + var(box) * stage.box_elements(), stage.box_elements(), false},
                   Touch{out.c, out.base + first_row * p.size.n + first_column, stage.box_elements(), true,
                         stage.rows, p.size.n, partial}};
  store.args = {first_column, first_row};
  if (p.size.batch > 1) store.args.push_back(matrix);
  Block stores = block(loop(box, stage.boxes, LoopKind::kUnrolled, block(std::move(store))),
                       Intrinsic{"tma_store_commit", {}, {}, 0});
  for (Stmt& stmt : lead(b, s, out, std::move(stores))) result.push_back(std::move(stmt));
  return result;
}

Block gemm_wgmma_store_end(KernelBuilder& b, const GemmWgmmaSchedule& s, const GemmWgmmaOutput& out) {
  return lead(b, s, out, block(wait_for_stores()));
}

}  // namespace lehr
