#include "templates/gemm/cuda/gemm_wgmma_walk.h"

#include <utility>

#include "base/ceil_div.h"

namespace lehr {

using namespace ir;

GemmWgmmaWalk::GemmWgmmaWalk(KernelBuilder& builder, const GemmWgmmaProblem& problem,
                             const GemmWgmmaSchedule& schedule, const GemmWgmmaGrid& grid)
    : b_(builder),
      s_(schedule),
      batch_(problem.size.batch),
      rows_(grid.rows / schedule.cluster_bm),
      columns_(grid.columns / schedule.cluster_bn),
      units_(grid.tiles / schedule.cluster()),
      walkers_(grid.blocks / schedule.cluster()),
      block_(builder.var("block")) {
  if (s_.cluster() == 1) return;
  cluster_ = builder.var("cluster");
  rank_ = builder.var("rank");
}

Block GemmWgmmaWalk::begin() const {
  if (s_.cluster() == 1) return {};
  return ir::block(Let{cluster_, var(block_) / s_.cluster()}, Let{rank_, var(block_) % s_.cluster()});
}

Expr GemmWgmmaWalk::rank() const {
  return s_.cluster() == 1 ? integer(0) : Expr(Var{rank_});
}
Expr GemmWgmmaWalk::rank_m() const {
  return s_.cluster_bm == 1 ? integer(0) : rank() / s_.cluster_bn;
}
Expr GemmWgmmaWalk::rank_n() const {
  return s_.cluster_bn == 1 ? integer(0) : rank() % s_.cluster_bn;
}

Block GemmWgmmaWalk::each(VarId turn, const Expr& first, std::int64_t step, Block body) const {
  if (!several_turns()) {
    body.push_front(Let{turn, integer(0)});
    return body;
  }
  // A block (or cluster) w of `walkers_` has the tiles w, w + walkers_, ... Among these, a consumer computes
  // number first, first + step, ...
  const std::int64_t most = ceil_div(ceil_div(units_, walkers_), step);
  const VarId visit = b_.var("visit");
  body.push_front(Let{turn, var(visit) * step + first});
  const bool even = units_ % (walkers_ * step) == 0;
  if (even) return ir::block(loop(visit, most, LoopKind::kSerial, body));
  const Expr walker = s_.cluster() == 1 ? var(block_) : var(cluster_);
  const Expr left = integer(units_ - 1) - walker - first * walkers_;
  return ir::block(loop_to(visit, (left + walkers_ * step) / (walkers_ * step), most, body));
}

// `raster` tiles along bm are walked before the next column of tiles, so that blocks that run at the same
// time share operands in the L2.
GemmWgmmaWalk::Place GemmWgmmaWalk::place(VarId turn) const {
  const Expr walker = s_.cluster() == 1 ? var(block_) : var(cluster_);
  Expr tile = several_turns() ? var(turn) * walkers_ + walker : walker;
  const std::int64_t of_matrix = rows_ * columns_;
  const VarId number = b_.var("number");
  Place place;
  place.row0 = b_.var("row0");
  place.column0 = b_.var("column0");
  if (batch_ > 1) {
    const VarId whole = b_.var("tile");
    const VarId matrix = b_.var("matrix");
    place.matrix = var(matrix);
    place.lets = ir::block(Let{whole, tile}, Let{matrix, var(whole) / of_matrix});
    tile = var(whole) % of_matrix;
  }
  place.lets.push_back(Let{number, tile});
  Expr row = var(number) / columns_;
  Expr column = var(number) % columns_;
  if (s_.raster > 1) {
    const std::int64_t group = s_.raster * columns_;
    const Expr first = var(number) / group * s_.raster;
    const Expr together =
        rows_ % s_.raster == 0 ? integer(s_.raster) : min(integer(rows_) - first, integer(s_.raster));
    row = first + var(number) % group % together;
    column = var(number) % group / together;
  }
  if (s_.cluster_bm > 1) row = row * s_.cluster_bm + rank_m();
  if (s_.cluster_bn > 1) column = column * s_.cluster_bn + rank_n();
  place.lets.push_back(Let{place.row0, row * s_.bm});
  place.lets.push_back(Let{place.column0, column * s_.bn});
  return place;
}

}  // namespace lehr
