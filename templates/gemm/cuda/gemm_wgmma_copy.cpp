#include "templates/gemm/cuda/gemm_wgmma_copy.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace lehr {

using namespace ir;

namespace {

/// Returns a mask of the blocks of the cluster that have the same rows (or columns) as this block. Block (m,
/// n) has the rank m * cluster_bn + n, and there are one, two or four blocks along either dimension.
Expr receivers(const GemmWgmmaSchedule& s, const GemmWgmmaWalk& walk, bool is_rows) {
  const std::int64_t apart = is_rows ? 1 : s.cluster_bn;
  std::int64_t mask = 0;  // mask of the blocks with the first rows or columns
  for (std::int64_t i = 0; i < (is_rows ? s.cluster_bn : s.cluster_bm); ++i)
    mask |= std::int64_t{1} << i * apart;
  // For the other rows or columns, the mask is shifted left by `step` bits each.
  const std::int64_t others = is_rows ? s.cluster_bm : s.cluster_bn;
  const std::int64_t step = is_rows ? s.cluster_bn : 1;
  if (others == 1) return integer(mask);
  const Expr number = is_rows ? walk.rank_m() : walk.rank_n();
  const auto more = [](std::int64_t bits) { return (std::int64_t{1} << bits) - 1; };
  Expr moved = integer(mask) + (others == 2 ? number : number % 2) * (mask * more(step));
  if (others == 4) moved = moved * (number / 2 * more(2 * step) + 1);
  return moved;
}

/// Returns the hint to the L2 for the tiles of an operand (ir/intrinsics.cpp, "tma_load_2d").
std::int64_t hint_of(const GemmWgmmaSchedule& s, bool is_rows) {
  if (s.keep == 0) return 0;
  return is_rows == (s.keep == 1) ? 2 : 1;
}

/// Returns a box of a matrix that begins at row (or column) `across` of C and at `k`.
GemmWgmmaBox matrix_box(const GemmWgmmaProblem& p, const GemmWgmmaTile& t, Expr across, Expr k,
                        const Expr& matrix) {
  const std::int64_t length = t.along_k ? p.size.k : t.extent;
  Expr inner = t.along_k ? k : across;
  Expr outer = t.along_k ? across : k;
  GemmWgmmaBox box;
  box.kind = p.size.batch > 1 ? "load_3d" : "load_2d";
  box.line = length;
  box.index = outer * length + inner;
  box.place.reserve(5);
  box.place.push_back(inner);
  box.place.push_back(outer);
  if (p.size.batch > 1) {
    box.index = matrix * (p.size.k * t.extent) + box.index;
    box.place.push_back(matrix);
  }
  return box;
}

/// Returns "tma_multicast_2d" for "load_2d".
StaticText name_of_load(std::string_view kind, bool multicast) {
  if (!multicast) return intrinsic_name("tma_" + std::string(kind));
  const bool im2col = kind.starts_with("im2col");
  return intrinsic_name((im2col ? "tma_im2col_multicast" : "tma_multicast") +
                        std::string(kind.substr(kind.rfind('_'))));
}

}  // namespace

TensorMap gemm_wgmma_load_map(const GemmWgmmaProblem& p, const GemmWgmmaTile& tile) {
  if (tile.view != GemmWgmmaView::kMatrix) return gemm_wgmma_image_map(p, tile);
  const std::int64_t inner = tile.along_k ? p.size.k : tile.extent;
  const std::int64_t outer = tile.along_k ? tile.extent : p.size.k;
  TensorMap map;
  map.rank = p.size.batch > 1 ? 3 : 2;
  map.dims = {inner, outer, p.size.batch > 1 ? p.size.batch : 0};
  map.strides = {1, inner, p.size.batch > 1 ? inner * outer : 0};
  map.box = {tile.box_inner, tile.box_outer / tile.slices, p.size.batch > 1 ? 1 : 0};
  map.swizzle = tile.span;
  map.tf32 = p.operand == DType::kF32;
  return map;
}

Touch gemm_wgmma_barrier(BufferId barriers, Expr number) {
  return {barriers, number * 2, 0, true};  // a barrier has two words
}

Block gemm_wgmma_by_one(KernelBuilder& b, const Expr& warp, std::int64_t warps, Block body) {
  const BufferId elected = b.buffer("elected", DType::kU32, Scope::kRegister, 1);
  Block of_warp = block(Alloc{elected}, Intrinsic{"elect_one", {Touch{elected, integer(0), 1, true}}, {}, 0},
                        If{eq(load(elected, integer(0)), integer(1)), body, {}, warps});
  return block(If{warp, of_warp, {}, 32 * warps});
}

Block gemm_wgmma_copy_begin(KernelBuilder& b, const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s,
                            const GemmWgmmaWalk& walk, const GemmWgmmaWalk::Place& at,
                            GemmWgmmaPixel& pixel) {
  if (!p.gathers()) return {};
  const bool is_rows = s.swap_ab == 0;
  const GemmWgmmaTile t = gemm_wgmma_tile(p, s, is_rows);
  const Expr slice = is_rows ? walk.rank_n() : walk.rank_m();
  return gemm_wgmma_pixel(b, p.image->conv,
                          var(is_rows ? at.row0 : at.column0) + slice * (t.box_outer / t.slices), pixel);
}

Block gemm_wgmma_copy(KernelBuilder& b, const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s,
                      const GemmWgmmaWalk& walk, const GemmWgmmaSide& side, bool is_rows,
                      const GemmWgmmaWalk::Place& at, const GemmWgmmaStep& step) {
  const std::int64_t bk = s.k_atoms * p.row();
  const GemmWgmmaTile& t = side.tile;
  const Expr slice = is_rows ? walk.rank_n() : walk.rank_m();
  const std::int64_t lines = t.box_outer / t.slices;
  const Unrolled boxes(b, "box", t.boxes);
  const Expr& number = boxes.at;
  // Boxes of an operand along k: first the pieces of the tile, and within each piece the rows of k.
  const std::int64_t parts = t.along_k ? t.tile / t.box_outer : t.boxes;
  Expr across = var(is_rows ? at.row0 : at.column0) +
                (t.along_k ? number % parts * t.box_outer + slice * lines : number * t.box_inner);
  const Expr row = step.k_tile * s.k_atoms + number / parts;
  GemmWgmmaBox box;
  switch (t.view) {
    case GemmWgmmaView::kMatrix:
      box = matrix_box(p, t, across,
                       step.k_tile * bk + (t.along_k ? number / parts * p.row() : slice * lines), at.matrix);
      break;
    case GemmWgmmaView::kPixels:
      CHECK(parts == 1, "pixels in {} parts", parts);
      box = gemm_wgmma_pixels(b, p, row, step.pixel);
      break;
    case GemmWgmmaView::kFilters:
      box = gemm_wgmma_filters(b, p, row, across);
      break;
  }
  Intrinsic load;
  load.name = name_of_load(box.kind, t.slices > 1);
  const std::int64_t elements = lines * t.box_inner;
  const bool partial = box.partial || p.size.k % bk != 0 || t.extent % t.tile != 0;
  Touch to{side.shared, step.stage * t.stage_elements() + number * t.box_elements() + slice * elements,
           elements, true};
  to.copies = t.slices;
  load.touches = {to, Touch{side.global, box.index, elements, false, lines, box.line, partial},
                  gemm_wgmma_barrier(step.full, step.stage)};
  load.args = {integer(hint_of(s, is_rows))};
  load.args.insert(load.args.end(), box.place.begin(), box.place.end());
  if (t.slices > 1) load.args.push_back(receivers(s, walk, is_rows));
  Block body = box.lets;
  body.push_back(load);
  return boxes.over(body);
}

}  // namespace lehr
