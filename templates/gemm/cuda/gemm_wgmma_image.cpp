#include "templates/gemm/cuda/gemm_wgmma_image.h"

#include <utility>

namespace lehr {

using namespace ir;

namespace {

/// Tap and channels of a row of k.
struct Taps {
  Expr number, channel;  ///< number of the tap in the filter; first channel
};
Taps taps_of(KernelBuilder& b, const GemmWgmmaProblem& p, const Expr& row, Block& lets) {
  const std::int64_t taps = p.image->conv.r * p.image->conv.s;
  if (taps == 1) return {integer(0), row * p.row()};
  const VarId number = b.var("k_row");
  lets.push_back(Let{number, row});
  return {var(number) % taps, var(number) / taps * p.row()};
}

}  // namespace

TensorMap gemm_wgmma_image_map(const GemmWgmmaProblem& p, const GemmWgmmaTile& tile) {
  const Conv2d& conv = p.image->conv;
  const std::int64_t lines = tile.box_outer / tile.slices;
  TensorMap map;
  map.swizzle = tile.span;
  map.tf32 = p.operand == DType::kF32;
  if (tile.view == GemmWgmmaView::kFilters) {
    const std::int64_t taps = p.image->stored_taps;
    map.rank = 3;
    map.dims = {conv.c, taps, conv.k, 0};
    map.strides = {1, conv.c, taps * conv.c, 0};
    map.box = {tile.box_inner, 1, lines, 0};
    return map;
  }
  map.rank = 4;
  map.dims = {conv.c, conv.w, conv.h, conv.n};
  map.strides = {1, conv.c, conv.w * conv.c, conv.h * conv.w * conv.c};
  map.box = {tile.box_inner, 0, 0, 0};
  // The bounding box holds the positions of the first tap. Those of the last tap lie (s - 1, r - 1) dilations
  // further.
  map.im2col = Im2col{
      lines,
      {-conv.pad_left, -conv.pad_top},
      {conv.pad_right - (conv.s - 1) * conv.dilation_w, conv.pad_bottom - (conv.r - 1) * conv.dilation_h},
      {conv.stride_w, conv.stride_h}};
  return map;
}

Block gemm_wgmma_pixel(KernelBuilder& b, const Conv2d& conv, const Expr& pixel, GemmWgmmaPixel& named) {
  const std::int64_t width = conv.out_w(), of_image = conv.out_h() * width;
  const VarId number = b.var("pixel");
  named = {b.var("image"), b.var("image_row"), b.var("image_column")};
  return block(Let{number, pixel}, Let{named.image, var(number) / of_image},
               Let{named.row, var(number) % of_image / width * conv.stride_h - conv.pad_top},
               Let{named.column, var(number) % width * conv.stride_w - conv.pad_left});
}

GemmWgmmaBox gemm_wgmma_pixels(KernelBuilder& b, const GemmWgmmaProblem& p, const Expr& row,
                               const GemmWgmmaPixel& first) {
  const Conv2d& conv = p.image->conv;
  GemmWgmmaBox box;
  Taps taps = taps_of(b, p, row, box.lets);
  const Expr down = taps.number / conv.s * conv.dilation_h;
  const Expr right = taps.number % conv.s * conv.dilation_w;
  box.kind = "im2col_4d";
  box.index =
      ((var(first.image) * conv.h + var(first.row) + down) * conv.w + var(first.column) + right) * conv.c +
      taps.channel;
  box.line = conv.c * conv.stride_w;
  box.partial = conv.pad_top + conv.pad_bottom + conv.pad_left + conv.pad_right > 0 || conv.c % p.row() != 0;
  box.place = {taps.channel, var(first.column), var(first.row), var(first.image), right, down};
  return box;
}

GemmWgmmaBox gemm_wgmma_filters(KernelBuilder& b, const GemmWgmmaProblem& p, const Expr& row,
                                const Expr& across) {
  const std::int64_t channels = p.image->conv.c, filter = channels * p.image->stored_taps;
  GemmWgmmaBox box;
  const Taps taps = taps_of(b, p, row, box.lets);
  const Expr stored = p.image->stored_tap(taps.number);
  box.kind = "load_3d";
  box.index = across * filter + stored * channels + taps.channel;
  box.line = filter;
  box.partial = channels % p.row() != 0;
  box.place = {taps.channel, stored, across};
  return box;
}

}  // namespace lehr
