// A convolution as the kernels compute it: transformed so that it does less work on longer lines, with the
// same numbers from the same memory.
#pragma once

#include <cstdint>

#include "ir/kernel.h"
#include "workload/workload.h"

namespace lehr {

/// A transformed convolution. Its tensors are laid out as `conv` says, except the filter: in memory it has
/// all taps of the workload's filter.
struct ConvView {
  Conv2d conv;
  ImageLayout filter_layout = ImageLayout::kNchw;
  std::int64_t stored_taps = 1;  ///< taps of a filter in memory
  /// Number of the tap (0, 0) of `conv` among the taps in memory, and the increments of that number for the
  /// next row and the next column.
  std::int64_t first_tap = 0, row_step = 1, column_step = 1;

  /// Returns the number of elements of the filter tensor.
  std::int64_t filter_elements() const { return conv.k * (conv.c / conv.groups) * stored_taps; }
  /// Returns whether some of the taps in memory are left out.
  bool is_trimmed() const { return conv.r * conv.s < stored_taps; }
  /// Returns whether the taps of `conv` are neighbours in memory, in their order.
  bool has_one_run() const;
  /// Return the number in memory of a tap of `conv`, which is given by its row and column or by its own
  /// number.
  ir::Expr stored_tap(const ir::Expr& row, const ir::Expr& column) const;
  ir::Expr stored_tap(const ir::Expr& tap) const;
  /// Returns a flat index in the filter tensor. `filter` counts all output channels, `channel` the channels
  /// of a group.
  ir::Expr filter_element(const ir::Expr& filter, const ir::Expr& channel, const ir::Expr& stored_tap) const;
};

/// Returns the workload's convolution with two changes. It is cropped to the pixels that a pool reads
/// (pooled_part()), and loses the outer rows and columns of the filter that meet only padding at every
/// position (e.g. of a 3 x 3 filter on an image of one pixel, or of a dilated filter on an image smaller than
/// the dilation). The remaining padding at the right and at the bottom may be negative.
ConvView trimmed_view(const Workload& workload);

namespace cpu {

/// Returns the trimmed view, transformed further for the CPU families:
///
/// - An image with one column becomes an image with one line.
/// - If the filter has one tap that makes each pixel a row of a product, short lines are joined, also across
///   images. In images of one pixel the channels are contiguous whatever the layout.
ConvView conv_view(const Workload& workload);

}  // namespace cpu
}  // namespace lehr
