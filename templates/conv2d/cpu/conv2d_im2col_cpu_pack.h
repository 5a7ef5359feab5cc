// conv2d_im2col_cpu's panels of pixels, gathered from the image.
#pragma once

#include <cstdint>

#include "ir/kernel.h"
#include "templates/gemm/cpu/gemm_cpu_nest.h"
#include "templates/shared/planes_cpu.h"
#include "workload/conv2d/conv2d.h"

namespace lehr {

/// The memory that the pixels are read from. nchw only: `planes`.
struct PixelSource {
  const Conv2d& conv;
  ir::BufferId buffer{};
  bool copied = false;        ///< `buffer` holds planes; else it is the image
  cpu::ImagePlanes planes{};  ///< planes of a block of output lines
  ir::VarId line{};           ///< the block's first output line

  std::int64_t channels() const { return conv.c / conv.groups; }
};

/// Makes panels [tile of pixels][k][pixel of the tile] of the nest's current block (nchw). Elements behind
/// the last pixel are zero.
ir::Stmt pack_pixels_as_columns(cpu::GemmNest& nest, const PixelSource& from, ir::BufferId panel,
                                const ir::Expr& tiles);

/// Makes panels [tile of pixels][pixel of the tile][k] (nhwc), whose rows are nest.a_row_stride() apart.
ir::Stmt pack_pixels_as_rows(cpu::GemmNest& nest, const PixelSource& from, ir::BufferId panel,
                             const ir::Expr& tiles);

}  // namespace lehr
