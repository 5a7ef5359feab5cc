#include "templates/gemm_wgmma_products.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace lehr {

using namespace ir;

namespace {

/// Element of a stage where the operand of instruction `k` begins, `across` rows or columns into the tile.
Expr place(const GemmWgmmaProblem& p, const GemmWgmmaTile& t, const Expr& across, const Expr& k) {
  if (!t.along_k) return across / t.box_inner * t.box_elements() + k * (p.mma_k() * t.box_inner);
  const std::int64_t per_row = p.row() / p.mma_k();
  return k / per_row * (t.tile * p.row()) + across * p.row() + k % per_row * p.mma_k();
}

/// Which instruction of a stage: 64 rows of the consumer, a part of the columns, and k.
struct Which {
  VarId i, part;
  Expr k;
};

/// `sums` from `first` on += A B, or = where `add` is 0.
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
      Touch{of.rows.shared, of.stage * r.stage_elements() + place(p, r, of.row + var(at.i) * 64, at.k),
            64 * k_elements / 128, false},
      Touch{of.columns.shared, of.stage * c.stage_elements() + place(p, c, var(at.part) * columns, at.k),
            std::max<std::int64_t>(1, columns * k_elements / 128), false}};
  mma.args = {integer(r.along_k ? 0 : 1), integer(c.along_k ? 0 : 1), integer(r.span),
              integer(r.leading),         integer(r.stride),          integer(c.span),
              integer(c.leading),         integer(c.stride),          add};
  return mma;
}

Expr first_sum(const GemmWgmmaSchedule& s, const Which& at) {
  return var(at.i) * (s.bn / 2) + var(at.part) * (s.columns() / 2);
}

/// `body` for each of the consumer's 64 rows and each part of the columns.
Block each_tile(const GemmWgmmaSchedule& s, const Which& at, Block body) {
  body = block(loop(at.part, s.parts(), LoopKind::kUnrolled, std::move(body)));
  return block(loop(at.i, s.consumer_rows() / 64, LoopKind::kUnrolled, std::move(body)));
}

}  // namespace

Block gemm_wgmma_products(KernelBuilder& b, const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s,
                          const GemmWgmmaSums& sums, const GemmWgmmaOperands& of) {
  const VarId k = b.var("k");
  const VarId i = b.var("i");
  const VarId part = b.var("part");
  const Which at = {i, part, var(k)};
  Block body =
      each_tile(s, at, block(mma(p, s, of, at, sums.accumulators, first_sum(s, at), of.k_tile + var(k))));
  const std::int64_t steps = s.k_atoms * p.row() / p.mma_k();
  return block(Intrinsic{"wgmma_fence", {}, {}, 0}, loop(k, steps, LoopKind::kUnrolled, std::move(body)),
               Intrinsic{"wgmma_commit", {}, {}, 0});
}

Block gemm_wgmma_two_level_products(KernelBuilder& b, const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s,
                                    const GemmWgmmaSums& sums, const GemmWgmmaOperands& of) {
  const VarId group = b.var("group");
  const VarId k = b.var("k");
  const VarId i = b.var("i");
  const VarId part = b.var("part");
  const VarId e = b.var("e");
  // A stage of a convolution with few channels may be shorter.
  const std::int64_t of_stage = s.k_atoms * p.row(), of_group = std::min(kTwoLevelK, of_stage);
  CHECK(of_stage % of_group == 0);
  const std::int64_t steps = of_group / p.mma_k();
  const Which at = {i, part, var(group) * steps + var(k)};
  const Expr sum = first_sum(s, at) + var(e);
  const auto add = [&](const Expr& first_level) { return load(sums.accumulators, sum) + first_level; };
  Block body = block(
      Intrinsic{"wgmma_fence", {}, {}, 0},
      loop(k, steps, LoopKind::kUnrolled, block(mma(p, s, of, at, sums.first_level, integer(0), var(k)))),
      Intrinsic{"wgmma_commit", {}, {}, 0}, Intrinsic{"wgmma_wait", {}, {integer(0)}, 0},
      gemm_wgmma_keep(p, sums.first_level, s.columns() / 2),
      loop(e, s.columns() / 2, LoopKind::kUnrolled,
           block(Store{sums.accumulators, sum, add(load(sums.first_level, var(e))), 1, std::nullopt})));
  return block(loop(group, of_stage / of_group, LoopKind::kUnrolled, each_tile(s, at, std::move(body))));
}

Block gemm_wgmma_clear(KernelBuilder& b, const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s,
                       const GemmWgmmaSums& sums) {
  const VarId e = b.var("e");
  return block(loop(e, s.accumulators(), LoopKind::kUnrolled,
                    block(Store{sums.accumulators, var(e), zero(p.accum), 1, std::nullopt})));
}

Stmt gemm_wgmma_keep(const GemmWgmmaProblem& p, BufferId sums, std::int64_t count) {
  return Intrinsic{p.accum == DType::kF32 ? "wgmma_keep_f32" : "wgmma_keep_s32",
                   {Touch{sums, integer(0), 0, true}},
                   {integer(count)},
                   0};
}

}  // namespace lehr
