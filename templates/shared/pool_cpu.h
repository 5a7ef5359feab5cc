// Pooling of a convolution's outputs while they are in the cache.
#pragma once

#include <cstdint>
#include <functional>

#include "ir/kernel.h"
#include "templates/shared/epilogue_expr.h"

namespace lehr::cpu {

/// Returns, along one side of an image of `pixels` pixels, pixel number `of_window` of window `number`. A
/// pixel outside of the image is moved to the nearest one inside, which is in the same window, so that the
/// largest value stays the same.
ir::Expr pixel_of_window(const PoolWindows& windows, const ir::Expr& number, std::int64_t of_window,
                         std::int64_t pixels);

/// Sums as [line][pixel][channel] in scratch memory, and the destination of the pooled ones.
struct PooledSums {
  ir::BufferId sums{}, to{};
  std::int64_t channels = 1;  ///< between pixels: a multiple of `lanes`
  /// Channels that exist. Others are left out, or written as they come.
  ir::Expr active = ir::integer(1);
  ir::Expr lines = ir::integer(1);  ///< pooled
  std::int64_t most_lines = 1;
  std::int64_t width = 1;        ///< pooled pixels of a line
  std::int64_t line_stride = 1;  ///< pixels between lines of sums: as many as the image has, or more
  /// For windows that are not apart: the image that they lie over, and the numbers in it of the first pooled
  /// line and of the first line of sums. If they are apart, the sums begin with the first window.
  ImageSize image = {};
  ir::Expr first_window = ir::integer(0), first_line = ir::integer(0);
  std::int64_t lanes = 16;
  ir::Expr first_channel = ir::integer(0);  ///< channel of the image
  /// Returns the flat index of the first channel of a pooled pixel. In `sums` itself it must not lie behind
  /// the first element of its window, and windows must not overlap.
  std::function<ir::Expr(const ir::Expr& line, const ir::Expr& pixel)> target;
  /// Whether these go to the output, where only `active` channels may be written.
  bool masked = false;
};

/// Applies the epilogue to each sum and stores one value for each window.
ir::Stmt pool_sums(ir::KernelBuilder& builder, const PooledSums& s, const FusedEpilogue& epilogue);

}  // namespace lehr::cpu
