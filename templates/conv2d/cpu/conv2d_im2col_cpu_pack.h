// conv2d_im2col_cpu's panels of pixels, gathered from the image.
#pragma once

#include <cstdint>

#include "ir/kernel.h"
#include "templates/gemm/cpu/gemm_cpu_nest.h"
#include "templates/shared/planes_cpu.h"
#include "workload/conv2d/conv2d.h"

namespace lehr {

/// Where the pixels are read from. nchw only: `planes`.
struct PixelSource {
  const Conv2d& conv;
  ir::BufferId buffer{};
  bool copied = false;        ///< `buffer` holds planes; else it is the image
  cpu::ImagePlanes planes{};  ///< of a block of output lines
  ir::VarId line{};           ///< the block's first output line

  std::int64_t channels() const { return conv.c / conv.groups; }
};

/// nchw: panels [tile of pixels][k][pixel of the tile] of the nest's current block. What lies behind the last
/// pixel is zero.
ir::Stmt pack_pixels_as_columns(cpu::GemmNest& nest, const PixelSource& from, ir::BufferId panel,
                                const ir::Expr& tiles);

/// nhwc: panels [tile of pixels][pixel of the tile][k], whose rows lie nest.a_row_stride() apart.
ir::Stmt pack_pixels_as_rows(cpu::GemmNest& nest, const PixelSource& from, ir::BufferId panel,
                             const ir::Expr& tiles);

}  // namespace lehr
