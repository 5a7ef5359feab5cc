// A convolution's input as a matrix of a product (im2col), which is never stored. Its element (q, pixel) is
// the input element that an output pixel multiplies by filter element q, or zero if that lies outside of the
// image.
//
// nchw: q = (channel * r + filter row) * s + filter column, with the channels of one group; pixel = output
// row * width + column, within one image. y (k x pixels) = f (k x q) view (q x pixels).
//
// nhwc: q = (filter row * s + filter column) * c + channel, with the channels of one group; pixel = (image *
// height + output row) * width + column. y (pixels x k) = view (pixels x q) f^T.
//
// If the workload pools windows, the pixels of an image are numbered window by window, so that the pixels of
// a window are neighbours.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ir/expr.h"
#include "templates/shared/conv_view.h"
#include "workload/workload.h"

namespace lehr {

struct ImageView : ConvView {
  std::int64_t window = 1;  ///< extent of a pool's window, which divides out_h() and out_w(); 1: no pool
};
/// Returns the view of the trimmed convolution (trimmed_view()): q counts only the taps that meet some pixel.
ImageView image_view_of(const Workload& workload);

/// Explains why the threads of the view's product cannot compute the pool at the workload's end: they can
/// hold only windows of 2 x 2. Returns nullopt if they can, or if there is no pool.
std::optional<std::string> why_no_view_window(const Workload& workload);

/// Returns the product that multiplies by the view. With nchw its batch is images x groups, with nhwc the
/// groups.
Workload image_product(const Conv2d& conv);
/// First elements of the matrices of one product in the batch.
struct ImageMatrices {
  ir::Expr pixels = ir::integer(0), filters = ir::integer(0), output = ir::integer(0);
  ir::Expr first_channel = ir::integer(0);  ///< first output channel of the product
  std::int64_t output_row = 0;              ///< elements between neighbouring rows of the output
};
/// Returns the matrices of product number `batch`. With pools, the output is that of the pools.
ImageMatrices image_matrices(const ImageView& view, const ir::Expr& batch);
/// Explains why 32-bit indices cannot reach all operands when tiles of the product extend beyond it by up to
/// `tile` elements. Returns nullopt if they can.
std::optional<std::string> why_no_view_indices(const Conv2d& conv, std::int64_t tile);

/// Returns the index of the view's element (q, pixel) in the input, relative to `base`. With nchw `base` is
/// the first element of the image (and group), with nhwc that of all images. Meaningless if image_inside() is
/// false.
ir::Expr image_index(const ImageView& view, const ir::Expr& base, const ir::Expr& q, const ir::Expr& pixel);

/// Returns the condition that the pixel (row, column) of the input exists. It is one of the pixels that
/// `rows` x `columns` outputs read with all taps; nullopt if all of these exist.
std::optional<ir::Expr> pixel_inside(const Conv2d& conv, const ir::Expr& row, const ir::Expr& column,
                                     std::int64_t rows, std::int64_t columns);

/// Returns the condition that the view's element (q, pixel) lies inside the image; nullopt if all elements
/// do. `q` and `pixel` must be in range.
std::optional<ir::Expr> image_inside(const ImageView& view, const ir::Expr& q, const ir::Expr& pixel);

/// Returns a length L such that L consecutive q, from any multiple of L on, are neighbours in memory, begin
/// there at a multiple of L, and lie all inside or all outside of the image. It is the number of channels
/// with nhwc, 1 with nchw.
std::int64_t image_run(const Conv2d& conv);

/// Returns the index of the element (q, filter) of the product's other matrix, which holds the filters.
/// Relative to `base`, the group's first element.
ir::Expr filter_index(const ImageView& view, const ir::Expr& base, const ir::Expr& q, const ir::Expr& filter);
/// Returns a length L such that, for every filter, L consecutive q from any multiple of L on are neighbours
/// in memory and begin there at a multiple of L.
std::int64_t filter_run(const ImageView& view);

}  // namespace lehr
