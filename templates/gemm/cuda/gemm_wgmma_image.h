// The operands of a convolution on their way into shared memory: how the tensor memory accelerator sees the
// input (as the rows of its im2col matrix; image_view.h: nhwc) and the filters.
//
// k is divided into rows of channels. Row q of k belongs to tap q % taps of the filter, and its channels
// begin with channel row q / taps. Taps and channels are separate dimensions of the tensors. Thus channels
// after the last one, and rows of k after the last one, are zero in both operands. Taps that only meet
// padding are not rows of k, although the filters in memory have them.
#pragma once

#include <string_view>
#include <vector>

#include "ir/kernel.h"
#include "templates/gemm/cuda/gemm_wgmma_space.h"

namespace lehr {

/// The elements that one load instruction copies.
struct GemmWgmmaBox {
  ir::Block lets;                   ///< definitions of the variables that the other members use
  std::string_view kind;            ///< the part of the instruction's name after "tma_": "load_2d"
  std::vector<ir::Expr> place;      ///< coordinates and offsets that the instruction takes
  ir::Expr index = ir::integer(0);  ///< index of the box's first element in the buffer, for analysis
  std::int64_t line = 0;            ///< elements between neighbouring lines of the box in the buffer
  bool partial = false;             ///< whether some elements of the box lie outside of the tensor
};

/// A pixel of the input.
struct GemmWgmmaPixel {
  ir::VarId image{}, row{}, column{};
};

/// Returns the tensor map through which the loads see the operand. `tile.view` must be kPixels or kFilters.
ir::TensorMap gemm_wgmma_image_map(const GemmWgmmaProblem& problem, const GemmWgmmaTile& tile);

/// Names the position of the pixel that the filter's first tap reads for output pixel `pixel`. For a `pixel`
/// after the last output, the position lies in an image after the last one.
ir::Block gemm_wgmma_pixel(ir::KernelBuilder& builder, const Conv2d& conv, const ir::Expr& pixel,
                           GemmWgmmaPixel& named);

/// Return the box for row `row` of k: of the pixels from `first` on, or of the filters from number `across`
/// on.
GemmWgmmaBox gemm_wgmma_pixels(ir::KernelBuilder& builder, const GemmWgmmaProblem& problem,
                               const ir::Expr& row, const GemmWgmmaPixel& first);
GemmWgmmaBox gemm_wgmma_filters(ir::KernelBuilder& builder, const GemmWgmmaProblem& problem,
                                const ir::Expr& row, const ir::Expr& across);

}  // namespace lehr
