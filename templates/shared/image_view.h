// A convolution's input as the matrix of a product (im2col) that is never stored: element (q, pixel) is the
// input element that product q of an output pixel reads, or zero if that lies outside of the image.
//
//   nchw: q = (channel * r + filter row) * s + filter column, channels of one group; pixel = output row *
//         width + column of one image. y (k x pixels) = f (k x q) view (q x pixels).
//   nhwc: q = (filter row * s + filter column) * c + channel, channels of one group;
//         pixel = (image * height + output row) * width + column. y (pixels x k) = view (pixels x q) f^T.
//
// If windows are pooled, the pixels of an image are numbered window by window, so that those of a window are
// neighbours.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ir/expr.h"
#include "templates/shared/conv_view.h"
#include "workload/workload.h"

namespace lehr {

struct ImageView : ConvView {
  std::int64_t window = 1;  ///< out_h() and out_w() are multiples of it
};
/// Returns the trimmed view (trimmed_view()): q counts the taps that meet some pixel.
ImageView image_view_of(const Workload& workload);

/// Explains why the threads of a product of the view cannot compute the pool at the workload's end: they hold
/// windows of 2 x 2. Returns nullopt if they can, or there is no pool.
std::optional<std::string> why_no_view_window(const Workload& workload);

/// Returns the product with the view. The batch is the images times the groups with nchw, the groups with
/// nhwc.
Workload image_product(const Conv2d& conv);
/// First elements of the matrices of one product of the batch.
struct ImageMatrices {
  ir::Expr pixels = ir::integer(0), filters = ir::integer(0), output = ir::integer(0);
  ir::Expr first_channel = ir::integer(0);  ///< first one of its output channels
  std::int64_t output_row = 0;              ///< distance of neighbouring rows of the output
};
/// Returns the matrices. `batch` is the number of the product. The output is that of the pools, if there are
/// any.
ImageMatrices image_matrices(const ImageView& view, const ir::Expr& batch);
/// Explains why 32-bit indices do not reach all operands when tiles of the product extend beyond it by up to
/// `tile` elements. Returns nullopt if they do.
std::optional<std::string> why_no_view_indices(const Conv2d& conv, std::int64_t tile);

/// Returns the index of the element relative to `base`, the first element of the image (and group) with nchw,
/// of all images with nhwc. Meaningless if image_inside() is false.
ir::Expr image_index(const ImageView& view, const ir::Expr& base, const ir::Expr& q, const ir::Expr& pixel);

/// Returns whether the pixel (row, column) of the input exists, among those that `rows` x `columns` outputs
/// read with all taps; nullopt if all do.
std::optional<ir::Expr> pixel_inside(const Conv2d& conv, const ir::Expr& row, const ir::Expr& column,
                                     std::int64_t rows, std::int64_t columns);

/// Returns whether the element exists; nullopt if all do. `q` and `pixel` are in range.
std::optional<ir::Expr> image_inside(const ImageView& view, const ir::Expr& q, const ir::Expr& pixel);

/// Returns the length of runs along q, from any multiple of it on, that are side by side in memory, begin
/// there at a multiple of it and are inside or outside together: the channels with nhwc, 1 with nchw.
std::int64_t image_run(const Conv2d& conv);

/// Returns the index of element (q, filter) relative to `base`, the group's first one: the filters are the
/// product's other matrix.
ir::Expr filter_index(const ImageView& view, const ir::Expr& base, const ir::Expr& q, const ir::Expr& filter);
/// Returns the length of runs along q, from any multiple of it on, that are side by side in memory and begin
/// there, whatever the filter, at a multiple of it.
std::int64_t filter_run(const ImageView& view);

}  // namespace lehr
