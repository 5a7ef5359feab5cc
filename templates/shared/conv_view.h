// A convolution as its kernels compute it: the same numbers from the same memory, less work, longer lines.
#pragma once

#include <cstdint>

#include "ir/kernel.h"
#include "workload/workload.h"

namespace lehr {

/// Tensors are laid out as in `conv`, except the filter, whose taps are the workload's.
struct ConvView {
  Conv2d conv;
  ImageLayout filter_layout = ImageLayout::kNchw;
  std::int64_t stored_taps = 1;  ///< taps of a filter in memory
  /// Number of the tap (0, 0) of `conv` among the stored taps, and the increments for the next row and
  /// column.
  std::int64_t first_tap = 0, row_step = 1, column_step = 1;

  /// Returns the elements of the filter tensor.
  std::int64_t filter_elements() const { return conv.k * (conv.c / conv.groups) * stored_taps; }
  /// Returns whether some of the taps in memory are left out.
  bool is_trimmed() const { return conv.r * conv.s < stored_taps; }
  /// Returns whether its taps are neighbours in memory, in their order.
  bool has_one_run() const;
  /// Return the stored number of a tap of `conv`, by its row and column or by its own number.
  ir::Expr stored_tap(const ir::Expr& row, const ir::Expr& column) const;
  ir::Expr stored_tap(const ir::Expr& tap) const;
  /// Returns a flat index in the filter tensor. `filter` counts all output channels, `channel` those of a
  /// group.
  ir::Expr filter_element(const ir::Expr& filter, const ir::Expr& channel, const ir::Expr& stored_tap) const;
};

/// Returns the workload's convolution, cropped to the pixels that a pool reads (pooled_part()), without outer
/// rows and columns of the filter that meet only padding in every position: e.g. a 3 x 3 filter on an image
/// of one pixel, or a dilated one on a map smaller than its steps. Padding at the right and at the bottom may
/// be negative there.
ConvView trimmed_view(const Workload& workload);

namespace cpu {

/// Returns the trimmed view for the CPU families:
///
/// - An image of one column is one of one line.
/// - If a filter of one tap makes each pixel a row of a product, short lines are joined, across images too.
///   The channels of an image of one pixel are innermost, whatever the layout.
ConvView conv_view(const Workload& workload);

}  // namespace cpu
}  // namespace lehr
