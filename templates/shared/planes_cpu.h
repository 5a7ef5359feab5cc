// A convolution's nchw input as padded planes, so that vectors across pixels can be read for any padding and
// strides.
#pragma once

#include <cstdint>

#include "ir/kernel.h"
#include "workload/conv2d/conv2d.h"

namespace lehr::cpu {

/// The input for a block of output lines: for each channel of a group, planes [phase_h][phase_w] of
/// `lines_in` x `width` elements. Plane (p, q) holds the pixels (y stride_h + p, x stride_w + q) of the
/// padded image. So the element for tap (r, s) and output pixel (y, x) is (y + r', x + s') in one plane,
/// where r' and s' depend on the tap only.
struct ImagePlanes {
  std::int64_t phases_h = 1, phases_w = 1;
  std::int64_t lines_in = 1, width = 1;
  std::int64_t plane() const { return lines_in * width; }
  std::int64_t channel() const { return phases_h * phases_w * plane(); }
};
ImagePlanes image_planes(const Conv2d& conv, std::int64_t lines);

/// Returns the index of the element for tap (row, column) and the first output pixel. `channel` is the index
/// of the channel's first plane.
ir::Expr tap_in(const ImagePlanes& planes, const Conv2d& conv, const ir::Expr& channel, const ir::Expr& row,
                const ir::Expr& column);

struct PlaneCopy {
  const Conv2d& conv;
  ImagePlanes planes;
  ir::BufferId from{}, to{};  ///< the input; the planes of all channels of a group
  /// Number of elements after the planes that may be overwritten: `lanes` or more.
  std::int64_t behind = 16;
  std::int64_t lanes = 16;
  ir::Expr image = ir::integer(0), group = ir::integer(0);
  ir::Expr line = ir::integer(0);  ///< first output line of the block; its last lines may not exist

  ir::Expr unused() const { return ir::integer(conv.c / conv.groups * planes.channel()); }
};
/// Zeroes the elements that copy_planes() never writes: the padding to the left and right of the lines, and
/// the elements after the planes. It is executed once, before all copies.
ir::Stmt clear_planes(ir::KernelBuilder& builder, const PlaneCopy& copy);
/// Writes all other elements of the planes.
ir::Stmt copy_planes(ir::KernelBuilder& builder, const PlaneCopy& copy);

}  // namespace lehr::cpu
