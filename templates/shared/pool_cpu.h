// Pooling of a convolution's outputs while they are in the cache.
#pragma once

#include <cstdint>
#include <functional>

#include "ir/kernel.h"
#include "templates/shared/epilogue_expr.h"

namespace lehr::cpu {

/// Returns the pixel number `of_window` of window number `number`, along one dimension of an image with
/// `pixels` pixels. If it lies outside of the image, returns the nearest pixel inside, which belongs to the
/// same window, so that the window's maximum stays the same.
ir::Expr pixel_of_window(const PoolWindows& windows, const ir::Expr& number, std::int64_t of_window,
                         std::int64_t pixels);

/// Sums laid out as [line][pixel][channel] in scratch memory, and the destination of the pooled values.
struct PooledSums {
  ir::BufferId sums{}, to{};
  std::int64_t channels = 1;  ///< elements between neighbouring pixels, a multiple of `lanes`
  /// Number of channels that exist. All others are skipped, or written with arbitrary values (see `masked`).
  ir::Expr active = ir::integer(1);
  ir::Expr lines = ir::integer(1);  ///< number of pooled lines
  std::int64_t most_lines = 1;
  std::int64_t width = 1;        ///< number of pooled pixels in a line
  std::int64_t line_stride = 1;  ///< pixels between lines of sums: at least the width of the image
  /// For windows that overlap or lie partly outside (not apart): the image of the sums, and the numbers of
  /// the first pooled line and of the first line of sums in it. If windows are apart, the sums begin with the
  /// first window.
  ImageSize image = {};
  ir::Expr first_window = ir::integer(0), first_line = ir::integer(0);
  std::int64_t lanes = 16;
  ir::Expr first_channel = ir::integer(0);  ///< channel of the image
  /// Returns the flat index of the first channel of a pooled pixel. If pooled values go to `sums` itself, it
  /// must not lie after the first element of its window, and windows must not overlap.
  std::function<ir::Expr(const ir::Expr& line, const ir::Expr& pixel)> target;
  /// Whether pooled values go to the output, where only `active` channels may be written.
  bool masked = false;
};

/// Applies the epilogue to each sum, and stores one pooled value per window.
ir::Stmt pool_sums(ir::KernelBuilder& builder, const PooledSums& s, const FusedEpilogue& epilogue);

}  // namespace lehr::cpu
