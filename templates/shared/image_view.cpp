#include "templates/shared/image_view.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "templates/shared/cuda_common.h"

namespace lehr {

using namespace ir;

namespace {

struct Taps {
  Expr channel, row, column;  ///< position in the filter
};

Taps taps_of(const Conv2d& conv, const Expr& q) {
  const std::int64_t channels = conv.c / conv.groups;
  if (conv.layout == ImageLayout::kNhwc)
    return {q % channels, q / (conv.s * channels), q / channels % conv.s};
  return {q / (conv.r * conv.s), q / conv.s % conv.r, q % conv.s};
}

struct Place {
  Expr image, row, column;  ///< position in the padded input, which may lie outside of the image
};

Place place_of(const ImageView& view, const Taps& taps, const Expr& pixel) {
  const Conv2d& conv = view.conv;
  const std::int64_t width = conv.out_w(), pixels = conv.out_h() * width;
  const bool all_images = conv.layout == ImageLayout::kNhwc && conv.n > 1;
  const Expr of_image = all_images ? pixel % pixels : pixel;
  Expr row = of_image / width, column = of_image % width;
  if (const std::int64_t w = view.window; w > 1) {
    const Expr number = of_image / (w * w), inside = of_image % (w * w);
    row = number / (width / w) * w + inside / w;
    column = number % (width / w) * w + inside % w;
  }
  return {all_images ? pixel / pixels : integer(0),
          row * conv.stride_h + taps.row * conv.dilation_h - conv.pad_top,
          column * conv.stride_w + taps.column * conv.dilation_w - conv.pad_left};
}

void require(std::optional<Expr>& all, Expr condition) {
  all = all ? logical_and(*all, condition) : condition;
}

/// Adds the condition 0 <= at < extent to `all`, unless the minimum and maximum of `at` imply it.
void require_within(std::optional<Expr>& all, const Expr& at, std::int64_t least, std::int64_t most,
                    std::int64_t extent) {
  if (least < 0) require(all, le(integer(0), at));
  if (most >= extent) require(all, lt(at, integer(extent)));
}

}  // namespace

ImageView image_view_of(const Workload& workload) {
  return {trimmed_view(workload), window_of(workload.epilogue)};
}

std::optional<std::string> why_no_view_window(const Workload& workload) {
  if (window_of(workload.epilogue) > 2) return "its threads hold windows of 2 x 2 only";
  return std::nullopt;
}

Workload image_product(const Conv2d& conv) {
  Workload workload;
  Gemm& gemm = workload.gemm();
  gemm.k = conv.products();
  gemm.a.type = conv.input;
  gemm.b.type = conv.filter;
  gemm.c.type = conv.output;
  gemm.accum = conv.accum;
  gemm.math = conv.math;
  if (conv.layout == ImageLayout::kNchw) {
    gemm.m = conv.k / conv.groups;
    gemm.n = conv.out_h() * conv.out_w();
    gemm.batch = conv.n * conv.groups;
  } else {
    gemm.m = conv.n * conv.out_h() * conv.out_w();
    gemm.n = conv.k / conv.groups;
    gemm.batch = conv.groups;
    gemm.b.layout = Layout::kColumn;
  }
  return workload;
}

ImageMatrices image_matrices(const ImageView& view, const Expr& batch) {
  const Conv2d& conv = view.conv;
  const std::int64_t channels = conv.c / conv.groups, filters = conv.k / conv.groups;
  const bool nhwc = conv.layout == ImageLayout::kNhwc;
  const std::int64_t pixels = conv.out_h() * conv.out_w();
  const Expr group = conv.groups == 1 ? integer(0) : nhwc ? batch : batch % integer(conv.groups);
  ImageMatrices at;
  at.filters = group * (filters * channels * view.stored_taps);
  at.first_channel = group * filters;
  at.pixels = nhwc ? group * channels : batch * (channels * conv.h * conv.w);
  at.output = nhwc ? at.first_channel : batch * (filters * pixels / (view.window * view.window));
  at.output_row = nhwc ? conv.k : pixels;
  return at;
}

std::optional<std::string> why_no_view_indices(const Conv2d& conv, std::int64_t tile) {
  // Filters and output are matrices of the product.
  Gemm written = image_product(conv).gemm();
  written.k = std::min(written.k, std::min(written.m, written.n));
  if (auto reason = cuda::why_no_indices(written, tile)) return reason;
  const std::int64_t lines = conv.h + conv.r * conv.dilation_h + tile * conv.stride_h;
  const std::int64_t reach = conv.layout == ImageLayout::kNchw ? tile : conv.c;
  if (conv.n * conv.c * conv.h * conv.w + lines * (conv.w + conv.s * conv.dilation_w) * reach > INT32_MAX)
    return "the input is too large for 32-bit indices";
  return std::nullopt;
}

Expr image_index(const ImageView& view, const Expr& base, const Expr& q, const Expr& pixel) {
  const Conv2d& conv = view.conv;
  const Taps taps = taps_of(conv, q);
  const Place at = place_of(view, taps, pixel);
  if (conv.layout == ImageLayout::kNhwc)
    return base + ((at.image * conv.h + at.row) * conv.w + at.column) * conv.c + taps.channel;
  return base + (taps.channel * conv.h + at.row) * conv.w + at.column;
}

std::optional<Expr> pixel_inside(const Conv2d& conv, const Expr& row, const Expr& column, std::int64_t rows,
                                 std::int64_t columns) {
  std::optional<Expr> all;
  require_within(all, row, -conv.pad_top,
                 (rows - 1) * conv.stride_h + (conv.r - 1) * conv.dilation_h - conv.pad_top, conv.h);
  require_within(all, column, -conv.pad_left,
                 (columns - 1) * conv.stride_w + (conv.s - 1) * conv.dilation_w - conv.pad_left, conv.w);
  return all;
}

std::optional<Expr> image_inside(const ImageView& view, const Expr& q, const Expr& pixel) {
  const Conv2d& conv = view.conv;
  const Place at = place_of(view, taps_of(conv, q), pixel);
  return pixel_inside(conv, at.row, at.column, conv.out_h(), conv.out_w());
}

std::int64_t image_run(const Conv2d& conv) {
  return conv.layout == ImageLayout::kNchw ? 1 : conv.c / conv.groups;
}

Expr filter_index(const ImageView& view, const Expr& base, const Expr& q, const Expr& filter) {
  const std::int64_t taps = view.conv.r * view.conv.s, channels = view.conv.c / view.conv.groups;
  const std::int64_t line = channels * view.stored_taps;
  const Expr first = base + filter * line;
  if (!view.is_trimmed()) return first + q;
  if (view.filter_layout == ImageLayout::kNchw) {
    const Expr tap = q % taps;
    return first + q / taps * view.stored_taps +
           (view.has_one_run() ? tap + view.first_tap : view.stored_tap(tap));
  }
  if (view.has_one_run()) return first + q + view.first_tap * channels;
  return first + view.stored_tap(q / channels) * channels + q % channels;
}

std::int64_t filter_run(const ImageView& view) {
  const std::int64_t channels = view.conv.c / view.conv.groups;
  if (!view.is_trimmed()) return view.conv.products();
  if (view.filter_layout == ImageLayout::kNchw) return 1;
  if (!view.has_one_run()) return channels;
  return channels * std::gcd(view.conv.r * view.conv.s, std::gcd(view.first_tap, view.stored_taps));
}

}  // namespace lehr
