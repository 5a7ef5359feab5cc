// A convolution's nchw input as padded planes, which vectors across pixels read, whatever padding and
// strides.
#pragma once

#include <cstdint>

#include "ir/kernel.h"
#include "workload/conv2d/conv2d.h"

namespace lehr::cpu {

/// The input for a block of output lines: per channel of a group, planes [phase_h][phase_w] of `lines_in` x
/// `width`. Plane (p, q) holds the padded image's pixels (y stride_h + p, x stride_w + q), so that tap (r, s)
/// of output pixel (y, x) is element (y + r' , x + s') of one plane: a shift that all pixels share.
struct ImagePlanes {
  std::int64_t phases_h = 1, phases_w = 1;
  std::int64_t lines_in = 1, width = 1;
  std::int64_t plane() const { return lines_in * width; }
  std::int64_t channel() const { return phases_h * phases_w * plane(); }
};
ImagePlanes image_planes(const Conv2d& conv, std::int64_t lines);

/// Returns the index of the tap (row, column) of the first output pixel. `channel` is its channel's first
/// plane.
ir::Expr tap_in(const ImagePlanes& planes, const Conv2d& conv, const ir::Expr& channel, const ir::Expr& row,
                const ir::Expr& column);

struct PlaneCopy {
  const Conv2d& conv;
  ImagePlanes planes;
  ir::BufferId from{}, to{};  ///< the input; the planes of all channels of a group, and
  std::int64_t behind = 16;   ///< elements behind them, `lanes` or more, that may be overwritten
  std::int64_t lanes = 16;
  ir::Expr image = ir::integer(0), group = ir::integer(0);
  ir::Expr line = ir::integer(0);  ///< the block's first output line; the last ones may not exist

  ir::Expr unused() const { return ir::integer(conv.c / conv.groups * planes.channel()); }
};
/// Zeroes the elements that copy_planes() leaves as they are: padding beside the lines, and elements behind
/// the planes. Once and for all.
ir::Stmt clear_planes(ir::KernelBuilder& builder, const PlaneCopy& copy);
/// Writes all other elements.
ir::Stmt copy_planes(ir::KernelBuilder& builder, const PlaneCopy& copy);

}  // namespace lehr::cpu
