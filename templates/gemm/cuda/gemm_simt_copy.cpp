// Neighbouring threads copy vectors that are neighbours in global memory, so that a warp's loads coalesce.
#include "templates/gemm/cuda/gemm_simt_copy.h"

#include <fmt/core.h>

#include <optional>

#include "templates/shared/product_view.h"

namespace lehr {
namespace {

using namespace ir;

/// Returns the number of vectors in one line of the tile. A line is contiguous in global memory.
std::int64_t vectors_per_line(const GemmSimtCopy& copy) {
  return (copy.along_k ? copy.bk : copy.tile) / copy.vec;
}

struct Place {
  Expr k;
  Expr x;
};

/// Returns the position in the tile of the vector that this thread copies with its load number `i`. The
/// number of threads and the number of vectors in a line are powers of two, so one of two cases holds. If a
/// line has no more vectors than there are threads, all threads together load one or more whole lines at a
/// time, and `i` selects these lines. If a line has more vectors, each thread makes several loads per line.
Place place_of(const GemmSimtOperand& operand, const Expr& i) {
  const GemmSimtCopy& copy = operand.copy;
  const std::int64_t line = vectors_per_line(copy);
  Expr along = copy.along_k ? var(operand.k_in) : var(operand.x_in);
  Expr across = copy.along_k ? var(operand.x_in) : var(operand.k_in);
  if (copy.threads >= line) {
    across = across + i * (copy.threads / line);
  } else {
    const std::int64_t loads_per_line = line / copy.threads;
    along = along + i % loads_per_line * (copy.threads * copy.vec);
    across = across + i / loads_per_line;
  }
  if (copy.along_k) return {along, across};
  return {across, along};
}

/// Returns the condition under which the vector at (k, x) lies within the matrix; nullopt if it always does.
/// `x` counts from the beginning of the matrix, `k` from the beginning of the tile.
std::optional<Expr> inside(const GemmSimtOperand& operand, const GemmSimtCorner& corner, const Expr& k,
                           const Expr& x) {
  const GemmSimtCopy& copy = operand.copy;
  std::optional<Expr> condition;
  if (copy.x % copy.tile != 0) condition = lt(x, integer(copy.x));
  if (!corner.whole_k) {
    Expr k_inside = lt(k, integer(copy.k % copy.bk));
    condition = condition ? logical_and(*condition, k_inside) : k_inside;
  }
  if (operand.image) {
    if (auto in_image = image_inside(*operand.image, corner.k + k, x))
      condition = condition ? logical_and(*condition, *in_image) : in_image;
  }
  return condition;
}

Expr global_index(const GemmSimtOperand& operand, const Expr& base, const Expr& k, const Expr& x) {
  const GemmSimtCopy& copy = operand.copy;
  if (operand.image) return image_index(*operand.image, base, k, x);
  if (operand.filters_of) return filter_index(*operand.filters_of, base, k, x);
  if (operand.is_a) return matrix_element(operand.layout, copy.x, copy.k, base, x, k);
  return matrix_element(operand.layout, copy.k, copy.x, base, k, x);
}

/// Returns a loop that executes `body` for each load `i` of the thread. If the tile has fewer vectors than
/// the block has threads, only the first threads execute the loop.
Block each_load(const GemmSimtOperand& operand, VarId thread, const Unrolled& i, Block body) {
  const GemmSimtCopy& copy = operand.copy;
  Block result = i.over(body);
  if (copy.vectors() < copy.threads) return block(If{lt(var(thread), integer(copy.vectors())), result, {}});
  return result;
}

Unrolled loads(KernelBuilder& builder, const GemmSimtOperand& operand) {
  return {builder, operand.is_a ? StaticText("load_a") : "load_b", operand.copy.loads()};
}

/// Returns the index in shared memory of element (k, x) of the tile that begins at `stage`.
Expr shared_index(const GemmSimtCopy& copy, const Expr& stage, const Expr& k, const Expr& x) {
  return copy.kept ? stage + x * copy.stride + k : stage + k * copy.stride + x;
}

}  // namespace

GemmSimtCorner gemm_simt_corner(const GemmSimtCopy& copy, Expr base, const Expr& tile, Expr x) {
  const std::int64_t rest = copy.k % copy.bk;
  GemmSimtCorner corner;
  corner.base = base;
  corner.x = x;
  if (as_constant(tile) == 0) {
    corner.whole_k = rest == 0;
  } else {
    corner.k = rest == 0 ? tile * copy.bk : tile * copy.bk - (copy.bk - rest);
  }
  return corner;
}

Block gemm_simt_positions(const GemmSimtOperand& operand, VarId thread) {
  const GemmSimtCopy& copy = operand.copy;
  const std::int64_t line = vectors_per_line(copy);
  Expr along = var(thread) % line * copy.vec;
  Expr across = var(thread) / line;
  if (copy.threads < line) {
    along = var(thread) * copy.vec;
    across = integer(0);
  }
  return block(Let{operand.k_in, copy.along_k ? along : across},
               Let{operand.x_in, copy.along_k ? across : along});
}

Block gemm_simt_load(KernelBuilder& builder, const GemmSimtOperand& operand, VarId thread,
                     const GemmSimtCorner& corner) {
  const GemmSimtCopy& copy = operand.copy;
  const int lanes = static_cast<int>(copy.vec);
  const Unrolled i = loads(builder, operand);
  const Place place = place_of(operand, i.at);
  const Expr k = corner.k + place.k;
  const Expr x = corner.x + place.x;
  Expr value = load(operand.global, global_index(operand, corner.base, k, x), lanes);
  if (auto condition = inside(operand, corner, place.k, x))
    value = select(*condition, value, zero(DType::kF32, lanes));
  return each_load(operand, thread, i,
                   block(Store{operand.in_flight, i.at * copy.vec, value, lanes, std::nullopt}));
}

Block gemm_simt_store(KernelBuilder& builder, const GemmSimtOperand& operand, VarId thread,
                      const Expr& stage) {
  const GemmSimtCopy& copy = operand.copy;
  const int lanes = static_cast<int>(copy.vec);
  const Unrolled i = loads(builder, operand);
  const Place place = place_of(operand, i.at);
  if (!copy.along_k || copy.kept) {
    return each_load(operand, thread, i,
                     block(Store{operand.shared, shared_index(copy, stage, place.k, place.x),
                                 load(operand.in_flight, i.at * copy.vec, lanes), lanes, std::nullopt}));
  }
  const Unrolled lane(builder, operand.is_a ? StaticText("lane_a") : "lane_b", copy.vec);
  Stmt scatter = Store{operand.shared, shared_index(copy, stage, place.k + lane.at, place.x),
                       load(operand.in_flight, i.at * copy.vec + lane.at), 1, std::nullopt};
  return each_load(operand, thread, i, lane.over(block(scatter)));
}

Block gemm_simt_copy_async(KernelBuilder& builder, const GemmSimtOperand& operand, VarId thread,
                           const GemmSimtCorner& corner, const Expr& stage) {
  const GemmSimtCopy& copy = operand.copy;
  const Unrolled i = loads(builder, operand);
  const Place place = place_of(operand, i.at);
  const Expr k = corner.k + place.k;
  const Expr x = corner.x + place.x;
  const std::int64_t bytes = copy.vec * size_of(DType::kF32);
  Intrinsic move;
  move.name = intrinsic_name("cp_async_" + std::to_string(bytes));
  move.touches = {Touch{operand.shared, shared_index(copy, stage, place.k, place.x), copy.vec, true},
                  Touch{operand.global, global_index(operand, corner.base, k, x), copy.vec, false}};
  // With zero source bytes, cp.async reads nothing and fills the destination with zeros.
  if (auto condition = inside(operand, corner, place.k, x))
    move.args = {select(*condition, integer(bytes), integer(0))};
  return each_load(operand, thread, i, block(move));
}

}  // namespace lehr
