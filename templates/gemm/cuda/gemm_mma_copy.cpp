// Threads take the vectors of a tile in their order in global memory, so that a warp's copies coalesce. In
// shared memory the 16-byte chunks of a line are permuted by the line's number, so that neither the copies
// nor ldmatrix have bank conflicts.
#include <fmt/core.h>

#include <optional>

#include "templates/gemm/cuda/gemm_mma_operand.h"
#include "templates/gemm/cuda/gemm_mma_swizzle.h"
#include "templates/shared/image_view.h"

namespace lehr {
namespace {

using namespace ir;

std::int64_t vectors_per_line(const GemmMmaTile& tile) {
  return tile.line / tile.vec;
}

/// Position of copy `i` of this thread: the line, the element in the line, and where that element lies in the
/// line of shared memory.
struct Place {
  Expr line;
  Expr along;
  Expr shared;
};

/// Returns where element `along` of line `line` lies in that line of shared memory.
Expr permuted(const GemmMmaTile& tile, const Expr& line, const Expr& along) {
  if (tile.gathered) return along;
  Expr chunk = bit_xor(along / tile.chunk, gemm_mma_swizzle(tile, line)) * tile.chunk;
  return tile.vec == tile.chunk ? chunk : chunk + along % tile.chunk;
}

/// Threads and lines are powers of two: either the threads take whole lines at once (then `i` moves across
/// lines), or a line takes several copies.
Place place_of(const GemmMmaOperand& operand, const Expr& i) {
  const GemmMmaTile& tile = operand.tile;
  const std::int64_t in_line = vectors_per_line(tile);
  if (tile.threads >= in_line) {
    const std::int64_t step = tile.threads / in_line;
    Expr line = var(operand.line) + i * step;
    // The permutation repeats every 8 lines.
    Expr shared = step % 8 == 0 ? var(operand.place) : permuted(tile, line, var(operand.along));
    return {line, var(operand.along), shared};
  }
  const std::int64_t copies_per_line = in_line / tile.threads;
  Expr line = i / copies_per_line;
  Expr along = var(operand.along) + i % copies_per_line * (tile.threads * tile.vec);
  Expr shared = permuted(tile, line, along);
  return {line, along, shared};
}

struct Coordinates {
  Expr k;
  Expr x;
};

Coordinates coordinates_of(const GemmMmaTile& tile, const GemmMmaCorner& corner, const Place& place) {
  if (tile.along_k) return {corner.k + place.along, corner.x + place.line};
  return {corner.k + place.line, corner.x + place.along};
}

/// Returns whether the vector at these coordinates exists; nullopt if it always does.
std::optional<Expr> inside(const GemmMmaOperand& operand, const GemmMmaCorner& corner,
                           const Coordinates& at) {
  const GemmMmaTile& tile = operand.tile;
  std::optional<Expr> condition;
  if (tile.x % tile.tile != 0) condition = lt(at.x, integer(tile.x));
  if (!corner.whole_k) {
    Expr k_inside = lt(at.k, integer(tile.k));
    condition = condition ? logical_and(*condition, k_inside) : k_inside;
  }
  if (operand.image) {
    if (auto in_image = image_inside(*operand.image, at.k, at.x))
      condition = condition ? logical_and(*condition, *in_image) : in_image;
  }
  return condition;
}

Expr global_index(const GemmMmaOperand& operand, const GemmMmaCorner& corner, const Coordinates& at) {
  const GemmMmaTile& tile = operand.tile;
  if (operand.image) return image_index(*operand.image, corner.base, at.k, at.x);
  if (operand.filters_of) return filter_index(*operand.filters_of, corner.base, at.k, at.x);
  return tile.along_k ? corner.base + at.x * tile.k + at.k : corner.base + at.k * tile.x + at.x;
}

/// Returns for (i < copies) body. If there are fewer vectors than threads, only the first threads execute it.
Block each_copy(const GemmMmaTile& tile, const GemmMmaThread& thread, const Unrolled& i, Block body) {
  Block result = i.over(body);
  if (tile.vectors() < tile.threads)
    return block(If{lt(var(thread.thread), integer(tile.vectors())), result, {}});
  return result;
}

Unrolled copies(KernelBuilder& builder, const GemmMmaOperand& operand) {
  return {builder, operand.is_a ? StaticText("copy_a") : "copy_b", operand.tile.copies()};
}

Expr shared_index(const GemmMmaTile& tile, const Expr& stage, const Place& place) {
  return stage + place.line * tile.stride + place.shared;
}

}  // namespace

Block gemm_mma_copy_places(const GemmMmaOperand& operand, const GemmMmaThread& thread) {
  const GemmMmaTile& tile = operand.tile;
  const std::int64_t in_line = vectors_per_line(tile);
  const bool whole_lines = tile.threads >= in_line;
  return block(
      Let{operand.line, whole_lines ? var(thread.thread) / in_line : integer(0)},
      Let{operand.along, (whole_lines ? var(thread.thread) % in_line : var(thread.thread)) * tile.vec},
      Let{operand.place, permuted(tile, var(operand.line), var(operand.along))});
}

Block gemm_mma_copy(KernelBuilder& builder, const GemmMmaOperand& operand, const GemmMmaThread& thread,
                    const GemmMmaCorner& corner, const Expr& stage) {
  const GemmMmaTile& tile = operand.tile;
  const Unrolled i = copies(builder, operand);
  const Place place = place_of(operand, i.at);
  const Coordinates at = coordinates_of(tile, corner, place);
  const std::int64_t bytes = tile.vec * 16 / tile.chunk;
  Intrinsic copy;
  copy.name = intrinsic_name("cp_async_" + std::to_string(bytes));
  copy.touches = {Touch{operand.shared, shared_index(tile, stage, place), tile.vec, true},
                  Touch{operand.global, global_index(operand, corner, at), tile.vec, false}};
  // With zero source bytes, cp.async reads nothing and fills the destination with zeros.
  if (auto condition = inside(operand, corner, at))
    copy.args = {select(*condition, integer(bytes), integer(0))};
  return each_copy(tile, thread, i, block(copy));
}

Block gemm_mma_load(KernelBuilder& builder, const GemmMmaOperand& operand, const GemmMmaThread& thread,
                    const GemmMmaCorner& corner) {
  const GemmMmaTile& tile = operand.tile;
  const Unrolled i = copies(builder, operand);
  const Coordinates at = coordinates_of(tile, corner, place_of(operand, i.at));
  const int lanes = static_cast<int>(tile.vec);
  Expr value = load(operand.global, global_index(operand, corner, at), lanes);
  if (auto condition = inside(operand, corner, at)) {
    const DType type = builder.kernel.buffer(operand.global).type;
    value = select(*condition, value, zero(type, lanes));
  }
  return each_copy(tile, thread, i,
                   block(Store{operand.in_flight, i.at * tile.vec, value, lanes, std::nullopt}));
}

Block gemm_mma_store(KernelBuilder& builder, const GemmMmaOperand& operand, const GemmMmaThread& thread,
                     const Expr& stage) {
  const Unrolled i = copies(builder, operand);
  const Place place = place_of(operand, i.at);
  const int lanes = static_cast<int>(operand.tile.vec);
  return each_copy(
      operand.tile, thread, i,
      block(Store{operand.shared, shared_index(operand.tile, stage, place),
                  load(operand.in_flight, i.at * operand.tile.vec, lanes), lanes, std::nullopt}));
}

}  // namespace lehr
