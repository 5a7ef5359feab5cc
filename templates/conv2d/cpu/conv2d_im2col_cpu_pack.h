// Packing of conv2d_im2col_cpu's panels of pixels, which are gathered from the image.
#pragma once

#include <cstdint>

#include "ir/kernel.h"
#include "templates/gemm/cpu/gemm_cpu_nest.h"
#include "templates/shared/planes_cpu.h"
#include "workload/conv2d/conv2d.h"

namespace lehr {

/// The memory from which pixels are read. With nchw, they may have been copied to `planes`.
struct PixelSource {
  const Conv2d& conv;
  ir::BufferId buffer{};
  bool copied = false;        ///< true: `buffer` holds planes, false: it is the image
  cpu::ImagePlanes planes{};  ///< planes of a block of output lines
  ir::VarId line{};           ///< first output line of the block

  std::int64_t channels() const { return conv.c / conv.groups; }
};

/// Packs panels [tile of pixels][k][pixel of the tile] for the nest's current block (nchw). Elements after
/// the last pixel are zero.
ir::Stmt pack_pixels_as_columns(cpu::GemmNest& nest, const PixelSource& from, ir::BufferId panel,
                                const ir::Expr& tiles);

/// Packs panels [tile of pixels][pixel of the tile][k] (nhwc). Their rows are nest.a_row_stride() elements
/// apart.
ir::Stmt pack_pixels_as_rows(cpu::GemmNest& nest, const PixelSource& from, ir::BufferId panel,
                             const ir::Expr& tiles);

}  // namespace lehr
