// The operands of a convolution on their way into shared memory: how the tensor memory accelerator sees the
// input, as the rows of its im2col matrix (image_view.h: nhwc), and the filters.
//
// k runs over rows of channels, and within each over the filter's taps: row q of k is tap q % taps of the
// channels from q / taps rows on. Taps and channels have dimensions of their own, so that channels behind the
// last one, and rows of k behind the last one, are zero on both sides. Taps that only meet padding are not
// rows of k; in memory the filters have them.
#pragma once

#include <string_view>
#include <vector>

#include "ir/kernel.h"
#include "templates/gemm/cuda/gemm_wgmma_space.h"

namespace lehr {

/// The elements that one load copies.
struct GemmWgmmaBox {
  ir::Block lets;                   ///< names that the other members refer to
  std::string_view kind;            ///< "load_2d" of "tma_load_2d"
  std::vector<ir::Expr> place;      ///< the instruction's coordinates, and offset
  ir::Expr index = ir::integer(0);  ///< index of the first element in the buffer, for the analysis
  std::int64_t line = 0;            ///< elements between its lines there
  bool partial = false;             ///< whether some of its elements do not exist
};

/// A pixel of the input.
struct GemmWgmmaPixel {
  ir::VarId image{}, row{}, column{};
};

/// Returns the operand as the loads see it. `tile.view` is one of a convolution's.
ir::TensorMap gemm_wgmma_image_map(const GemmWgmmaProblem& problem, const GemmWgmmaTile& tile);

/// Names the position of the pixel that the filter's first tap reads for output number `pixel`. Behind the
/// last output it is that of a further image.
ir::Block gemm_wgmma_pixel(ir::KernelBuilder& builder, const Conv2d& conv, const ir::Expr& pixel,
                           GemmWgmmaPixel& named);

/// Return row `row` of k: of the pixels from `first` on, or of the filters from number `across` on.
GemmWgmmaBox gemm_wgmma_pixels(ir::KernelBuilder& builder, const GemmWgmmaProblem& problem,
                               const ir::Expr& row, const GemmWgmmaPixel& first);
GemmWgmmaBox gemm_wgmma_filters(ir::KernelBuilder& builder, const GemmWgmmaProblem& problem,
                                const ir::Expr& row, const ir::Expr& across);

}  // namespace lehr
