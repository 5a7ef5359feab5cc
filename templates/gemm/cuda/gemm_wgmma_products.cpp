#include "templates/gemm/cuda/gemm_wgmma_products.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace lehr {

using namespace ir;

namespace {

/// Returns where the operand of instruction `k` begins in a stage, for the rows or columns from `across` on
/// in the tile. In elements.
Expr place(const GemmWgmmaProblem& p, const GemmWgmmaTile& t, const Expr& across, const Expr& k) {
  if (!t.along_k) return across / t.box_inner * t.box_elements() + k * (p.mma_k() * t.box_inner);
  const std::int64_t per_row = p.row() / p.mma_k();
  return k / per_row * (t.tile * p.row()) + across * p.row() + k % per_row * p.mma_k();
}

/// One instruction of a stage, identified by 64 rows of the consumer, a group of columns, and k.
struct Which {
  const Unrolled& i;
  const Unrolled& part;
  Expr k;
};

/// Returns the index of register `number` (0 to 3) of the thread's fragment for the rows of instruction `k`.
Expr fragment(const GemmWgmmaSchedule& s, const Unrolled& i, const Expr& k, const Expr& number) {
  return (k * (s.consumer_rows() / 64) + i.at) * 4 + number;
}

/// Loads the thread's fragments of a stage's rows into registers. The tile lies along the rows, in boxes of
/// 32 rows; each line of a box holds one k, and lines are swizzled. A register holds row lane / 4 of 8 rows,
/// and k number lane % 4 of 4 (PTX ISA 9.0, "Register Fragments for wgmma.mma_async.m64nNk8").
Block load_fragments(KernelBuilder& b, const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s,
                     const GemmWgmmaOperands& of) {
  const GemmWgmmaTile& t = of.rows.tile;
  const Unrolled k(b, "k", s.k_atoms * p.row() / p.mma_k()), i(b, "i", s.consumer_rows() / 64),
      r(b, "reg", 4);
  const Expr warp = of.member / 32, lane = of.member % 32;
  const std::int64_t chunk = 16 / p.bytes();  // elements in 16 bytes, which the swizzle permutes
  const Expr row_of_box = warp % 2 * 16 + r.at % 2 * 8 + lane / 4;
  const Expr k_of_mma = lane % 4 + r.at / 2 * 4;
  const Expr swizzled = bit_xor(row_of_box / chunk, k_of_mma) * chunk + row_of_box % chunk;
  const Expr box = of.row / t.box_inner + i.at * (64 / t.box_inner) + warp / 2;
  const Expr from = of.stage * t.stage_elements() + box * t.box_elements() +
                    (k.at * p.mma_k() + k_of_mma) * t.box_inner + swizzled;
  const Intrinsic load = {
      "gather_1x32",
      {Touch{of.fragments, fragment(s, i, k.at, r.at), 1, true}, Touch{of.rows.shared, from, 1, false}},
      {},
      0};
  return k.over(i.over(r.over(block(load))));
}

/// Returns one instruction. It adds A B to `sums` from `first` on; if `add` is 0, it replaces them.
Intrinsic mma(const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s, const GemmWgmmaOperands& of,
              const Which& at, BufferId sums, const Expr& first, const Expr& add) {
  const std::int64_t columns = s.columns();
  const std::int64_t k_elements = p.mma_k();
  const GemmWgmmaTile& r = of.rows.tile;
  const GemmWgmmaTile& c = of.columns.tile;
  Intrinsic mma;
  mma.name = gemm_wgmma_instruction(p, columns);
  mma.flops = static_cast<double>(columns * k_elements);
  mma.touches = {
      Touch{sums, first, columns / 2, true},
      Touch{of.rows.shared, of.stage * r.stage_elements() + place(p, r, of.row + at.i.at * 64, at.k),
            64 * k_elements / 128, false},
      Touch{of.columns.shared, of.stage * c.stage_elements() + place(p, c, at.part.at * columns, at.k),
            std::max<std::int64_t>(1, columns * k_elements / 128), false}};
  if (p.rows_from_registers()) {
    mma.touches[1] = Touch{of.fragments, fragment(s, at.i, at.k, integer(0)), 4, false};
    mma.args = {integer(c.span), integer(c.leading), integer(c.stride), add};
    return mma;
  }
  mma.args = {integer(r.along_k ? 0 : 1), integer(c.along_k ? 0 : 1), integer(r.span),
              integer(r.leading),         integer(r.stride),          integer(c.span),
              integer(c.leading),         integer(c.stride),          add};
  return mma;
}

Expr first_sum(const GemmWgmmaSchedule& s, const Which& at) {
  return at.i.at * (s.bn / 2) + at.part.at * (s.columns() / 2);
}

/// Returns a loop that executes `body` for each 64 rows of the consumer and each group of columns.
Block each_tile(const Which& at, Block body) {
  return at.i.over(at.part.over(body));
}
Unrolled each_64_rows(KernelBuilder& b, const GemmWgmmaSchedule& s) {
  return {b, "i", s.consumer_rows() / 64};
}

/// Returns the stage's first `steps` products along k, as one committed group. The products of the first
/// stage replace the accumulators' values, those of later stages are added to them.
Block into_accumulators(KernelBuilder& b, const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s,
                        const GemmWgmmaSums& sums, const GemmWgmmaOperands& of, std::int64_t steps) {
  const Unrolled k(b, "k", steps);
  const Unrolled i = each_64_rows(b, s), part(b, "part", s.parts());
  const Which at = {i, part, k.at};
  Block result;
  if (p.rows_from_registers()) result = load_fragments(b, p, s, of);
  result.push_back(Intrinsic{"wgmma_fence", {}, {}, 0});
  append(result, k.over(each_tile(
                     at, block(mma(p, s, of, at, sums.accumulators, first_sum(s, at), of.k_tile + k.at)))));
  result.push_back(Intrinsic{"wgmma_commit", {}, {}, 0});
  return result;
}

/// Returns the number of products that form a partial sum. A stage of a convolution with few channels may
/// have fewer.
std::int64_t of_group(const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s) {
  return std::min(kTwoLevelK, s.k_atoms * p.row());
}

}  // namespace

Block gemm_wgmma_products(KernelBuilder& b, const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s,
                          const GemmWgmmaSums& sums, const GemmWgmmaOperands& of) {
  return into_accumulators(b, p, s, sums, of, s.k_atoms * p.row() / p.mma_k());
}

bool gemm_wgmma_has_first_level(const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s, bool only_stage) {
  return p.two_level && !(only_stage && of_group(p, s) == s.k_atoms * p.row());
}

Block gemm_wgmma_two_level_products(KernelBuilder& b, const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s,
                                    const GemmWgmmaSums& sums, const GemmWgmmaOperands& of) {
  CHECK(s.k_atoms * p.row() % of_group(p, s) == 0);
  const std::int64_t groups = s.k_atoms * p.row() / of_group(p, s), steps = of_group(p, s) / p.mma_k();
  Block result;
  if (of.only_stage) {
    // Computes the first sum directly in the accumulators, whose registers differ from tile to tile.
    // Otherwise first_level[e] + 0 would be computed after the wait, in the same text for all tiles. ptxas
    // (12.9 to 13.5) then takes the second one for the first, although wgmma has changed the registers, and
    // drops the products between them.
    result = into_accumulators(b, p, s, sums, of, steps);
    append(result, block(Intrinsic{"wgmma_wait", {}, {integer(0)}, 0},
                         gemm_wgmma_keep(p, sums.accumulators, s.accumulators())));
    if (groups == 1) return result;
  }
  const Unrolled group(b, "group", groups - (of.only_stage ? 1 : 0)), k(b, "k", steps);
  const Unrolled i = each_64_rows(b, s), part(b, "part", s.parts());
  const Unrolled e(b, "e", s.columns() / 2);
  const Which at = {i, part, (of.only_stage ? group.at + 1 : Expr(group.at)) * steps + k.at};
  const Expr sum = first_sum(s, at) + e.at;
  const auto add = [&](const Expr& first_level) { return load(sums.accumulators, sum) + first_level; };
  Block body = block(Intrinsic{"wgmma_fence", {}, {}, 0});
  append(body, k.over(block(mma(p, s, of, at, sums.first_level, integer(0), k.at))));
  append(body, block(Intrinsic{"wgmma_commit", {}, {}, 0}, Intrinsic{"wgmma_wait", {}, {integer(0)}, 0},
                     gemm_wgmma_keep(p, sums.first_level, s.columns() / 2)));
  append(body,
         e.over(block(Store{sums.accumulators, sum, add(load(sums.first_level, e.at)), 1, std::nullopt})));
  append(result, group.over(each_tile(at, body)));
  return result;
}

Block gemm_wgmma_clear(KernelBuilder& b, const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s,
                       const GemmWgmmaSums& sums) {
  const Unrolled e(b, "e", s.accumulators());
  return e.over(block(Store{sums.accumulators, e.at, zero(p.accum), 1, std::nullopt}));
}

Stmt gemm_wgmma_keep(const GemmWgmmaProblem& p, BufferId sums, std::int64_t count) {
  return Intrinsic{p.accum == DType::kF32 ? StaticText("wgmma_keep_f32") : "wgmma_keep_s32",
                   {Touch{sums, integer(0), 0, true}},
                   {integer(count)},
                   0};
}

}  // namespace lehr
