// A convolution over images: shapes, steps, types, and values derived from them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "workload/epilogue.h"
#include "workload/math_mode.h"
#include "workload/operand.h"
#include "workload/tensor.h"
#include "workload/tolerance.h"

namespace lehr {

/// Storage order of the input and the output. It also decides the order of the filters: [k][c][r][s] with
/// kNchw, [k][r][s][c] with kNhwc.
enum class ImageLayout { kNchw, kNhwc };

/// y[n][k][oy][ox] = sum over c, r, s of x[n][c][oy stride_h + r dilation_h - pad_top][ox stride_w + s
/// dilation_w - pad_left] f[k][c][r][s]: a cross-correlation, as in deep learning. Pixels outside of the
/// image add nothing: they are zero, or x's zero point, which is subtracted. With groups, output channels [g
/// k/groups, (g+1) k/groups) use the input channels [g c/groups, (g+1) c/groups) only, and f has c/groups
/// channels.
struct Conv2d {
  std::int64_t n = 1;         ///< images
  std::int64_t h = 0, w = 0;  ///< height and width of the input
  std::int64_t c = 0, k = 0;  ///< input and output channels
  std::int64_t r = 0, s = 0;  ///< height and width of a filter
  std::int64_t stride_h = 1, stride_w = 1;
  std::int64_t pad_top = 0, pad_bottom = 0, pad_left = 0, pad_right = 0;
  std::int64_t dilation_h = 1, dilation_w = 1;
  std::int64_t groups = 1;
  ImageLayout layout = ImageLayout::kNchw;
  DType input = DType::kF32, filter = DType::kF32, output = DType::kF32, accum = DType::kF32;
  Math math = Math::kStrict;
  ZeroPoint zero = ZeroPoint::kNone;  ///< zero point that is subtracted from each element of x
  friend bool operator==(const Conv2d&, const Conv2d&) = default;

  /// Return the size of the output. Below 1 if a dilated filter is larger than the padded image.
  std::int64_t out_h() const { return (h + pad_top + pad_bottom - dilation_h * (r - 1) - 1) / stride_h + 1; }
  std::int64_t out_w() const { return (w + pad_left + pad_right - dilation_w * (s - 1) - 1) / stride_w + 1; }
  /// Returns the number of products that are summed up for one output, including products with padding.
  std::int64_t products() const { return c / groups * r * s; }
};

/// Height and width of an output, after a pool.
struct ImageSize {
  std::int64_t height = 0, width = 0;
};

/// The functions of the same name for a workload (workload.h) or an operator's table (operator.h). Only
/// functions with an epilogue parameter consider its effect on the output.
void validate(const Conv2d& conv);
std::vector<TensorSpec> tensors_of(const Conv2d& conv);
std::vector<Dimension> shape_of(const Conv2d& conv, const Epilogue& epilogue);
/// Does the same as tensor_shapes(), for the inputs only.
std::vector<std::vector<Dimension>> input_shapes_of(const Conv2d& conv);
void set_types(Conv2d& conv, DType inputs, DType output);
std::int64_t channels_of(const Conv2d& conv);
ProductSums product_sums(const Conv2d& conv);
std::string_view sliced_size(const Conv2d& conv);
double flops_of(const Conv2d& conv);
double needed_flops_of(const Conv2d& conv, const Epilogue& epilogue);
/// Returns the size of the output, after a pool.
ImageSize output_size(const Conv2d& conv, const Epilogue& epilogue);
/// Returns the convolution cropped at the right and at the bottom to the pixels that the windows of a pool
/// read. Its padding there may be negative.
Conv2d pooled_part(Conv2d conv, const Epilogue& epilogue);

}  // namespace lehr
