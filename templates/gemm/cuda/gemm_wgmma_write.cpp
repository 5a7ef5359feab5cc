// The layout of the accumulators is that of PTX ISA 9.0, "Register Fragments for wgmma.mma_async.m64nNk16":
// warp w of the warpgroup holds rows 16 w to 16 w + 15. Among them, lane l holds columns 2 (l % 4) and 2 (l %
// 4) + 1 of rows l / 4 and l / 4 + 8.
#include "templates/gemm/cuda/gemm_wgmma_write.h"

namespace lehr {

using namespace ir;

namespace {

/// Returns the flat index in C of the element at (row, column), counted in wgmma's rows and columns.
Expr element_of(const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s, const GemmWgmmaOutput& out,
                const Expr& row, const Expr& column) {
  return out.base + (s.swap_ab == 1 ? column * p.size.n + row : row * p.size.n + column);
}

Expr first_row(const GemmWgmmaSchedule& s, const GemmWgmmaOutput& out) {
  const Expr own = s.ping_pong == 1 ? integer(0) : var(out.consumer) * s.consumer_rows();
  return var(out.row0) + own + var(out.thread) / 32 % 4 * 16 + var(out.lane) / 4;
}

/// Writes C behind a gate with swapped operands. The two neighbouring columns of the product that a gate
/// combines are two rows of the accumulators here, held by lanes l and l ^ 4. The two lanes exchange one sum:
/// afterwards the lane of the even row has both sums of row l / 4, and the other lane both sums of row l / 4
/// + 8.
Block write_gated_rows(KernelBuilder& b, const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s,
                       const GemmWgmmaOutput& out) {
  const Unrolled i(b, "i", s.consumer_rows() / 64), j(b, "j", s.bn / 8), v(b, "v", 2);
  const VarId odd = b.var("odd");
  const VarId row = b.var("row");
  const VarId column = b.var("column");
  const BufferId other = b.buffer("other", p.accum, Scope::kRegister, 1);
  const BufferId pair = b.buffer("pair", p.accum, Scope::kRegister, 2);
  const Expr sum = i.at * (s.bn / 2) + j.at * 4 + v.at;
  // Either both rows of a pair are inside or neither is.
  const auto inside = [&](const Expr& at_row, Block body) {
    if (p.size.n % s.bm != 0) body = block(If{lt(at_row, integer(p.size.n)), body, {}});
    if (p.size.m % s.bn != 0) body = block(If{lt(var(column), integer(p.size.m)), body, {}});
    return body;
  };
  Block body = block(Let{column, var(out.column0) + var(out.lane) % 4 * 2 + j.at * 8 + v.at});
  for (const std::int64_t half : {0, 1}) {
    const Expr at = var(row) + half * 8;
    Block finish = gemm_wgmma_epilogue(b, p, s, out, sum + half * 2, at, var(column), 1);
    append(body, inside(at, finish));
  }
  const Expr is_odd = eq(var(odd), integer(1));
  const Expr upper = load(out.accumulators, sum), lower = load(out.accumulators, sum + 2);
  append(body, block(Store{other, integer(0), select(is_odd, upper, lower), 1, std::nullopt},
                     Intrinsic{"warp_exchange_f32", {Touch{other, integer(0), 1, true}}, {integer(8)}, 0}));
  const Expr others = load(other, integer(0));
  append(body, block(Store{pair, integer(0), select(is_odd, others, upper), 1, std::nullopt},
                     Store{pair, integer(1), select(is_odd, lower, others), 1, std::nullopt}));
  append(body, out.epilogue.gate_in_place(b, pair, integer(0), 1));
  const Expr at = var(row) + var(odd) * 8;
  const bool converts = p.output != p.accum;
  if (converts)
    body.push_back(Store{out.converted, integer(0), cast(p.output, load(pair, integer(0))), 1, std::nullopt});
  append(body, inside(at, block(Store{out.c, out.base + var(column) * p.size.output_columns() + at / 2,
                                      load(converts ? out.converted : pair, integer(0)), 1, std::nullopt})));
  body = j.over(v.over(body));
  body.push_front(Let{row, first_row(s, out) + i.at * 64});
  Block result = block(Alloc{other}, Alloc{pair}, Let{odd, var(out.lane) / 4 % 2});
  if (converts) result.push_back(Alloc{out.converted});
  append(result, i.over(body));
  return result;
}

}  // namespace

Block gemm_wgmma_epilogue(KernelBuilder& b, const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s,
                          const GemmWgmmaOutput& out, const Expr& first, const Expr& row, const Expr& column,
                          int lanes) {
  // The epilogue's channels are the columns of the workload's C. These are the columns of p's C, or its rows
  // if p is the transpose.
  const bool along_rows = (s.swap_ab == 1) != p.size.swapped;
  return out.epilogue.in_place(
      b, out.accumulators, first,
      {along_rows ? row : column, !p.size.swapped, element_of(p, s, out, row, column), lanes, std::nullopt});
}

Block gemm_wgmma_write(KernelBuilder& b, const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s,
                       const GemmWgmmaOutput& out) {
  const bool swapped = s.swap_ab == 1;
  if (swapped && p.size.gated) return write_gated_rows(b, p, s, out);
  const std::int64_t rows = swapped ? p.size.n : p.size.m;
  const std::int64_t columns = swapped ? p.size.m : p.size.n;
  const Unrolled i(b, "i", s.consumer_rows() / 64), half(b, "half", 2), j(b, "j", s.bn / 8);
  const VarId row = b.var("row");
  const VarId column = b.var("column");
  // Neighbouring columns are neighbours in C unless the operands are swapped.
  const std::int64_t vec = !swapped && p.size.n % 2 == 0 ? 2 : 1;
  const Unrolled v(b, "v", 2 / vec);
  const int lanes = static_cast<int>(vec);
  const Expr sum = i.at * (s.bn / 2) + j.at * 4 + half.at * 2 + v.at * vec;
  const Expr at = var(column) + v.at * vec;
  const bool gated = p.size.gated;  // whether two neighbouring columns become one
  const std::int64_t stored = gated ? 1 : vec;
  const int stored_lanes = static_cast<int>(stored);
  const Expr index =
      gated ? out.base + var(row) * p.size.output_columns() + at / 2 : element_of(p, s, out, var(row), at);
  Block body = gemm_wgmma_epilogue(b, p, s, out, sum, var(row), at, lanes);
  if (gated) append(body, out.epilogue.gate_in_place(b, out.accumulators, sum, 1));
  if (p.output == p.accum) {
    body.push_back(
        Store{out.c, index, load(out.accumulators, sum, stored_lanes), stored_lanes, std::nullopt});
  } else {
    const Unrolled e(b, "e", stored);
    append(body, e.over(block(Store{out.converted, e.at, cast(p.output, load(out.accumulators, sum + e.at)),
                                    1, std::nullopt})));
    body.push_back(
        Store{out.c, index, load(out.converted, integer(0), stored_lanes), stored_lanes, std::nullopt});
  }
  if (columns % s.bn != 0) body = block(If{lt(at, integer(columns)), body, {}});
  body = v.over(body);
  body.push_front(Let{column, var(out.column0) + var(out.lane) % 4 * 2 + j.at * 8});
  body = j.over(body);
  if (rows % s.bm != 0) body = block(If{lt(var(row), integer(rows)), body, {}});
  body.push_front(Let{row, first_row(s, out) + i.at * 64 + half.at * 8});
  body = half.over(body);
  Block result;
  if (p.output != p.accum) result.push_back(Alloc{out.converted});
  append(result, i.over(body));
  return result;
}

}  // namespace lehr
