#include "templates/reference/plain_product.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "templates/shared/image_view.h"

namespace lehr {
namespace {

using namespace ir;

std::optional<PlainProduct> product_of_matrices(const Workload& workload) {
  const Gemm g = workload.gemm();
  const std::int64_t columns_of_c = output_columns(g, workload.epilogue);
  PlainProduct p;
  p.matrices = g.batch;
  p.rows = g.m;
  p.columns = g.n;
  p.depth = g.k;
  p.a_along_k = g.a.layout == Layout::kRow;
  p.b_along_k = g.b.layout == Layout::kColumn;
  p.a = [g](const PlainPlace& at, const Expr& row, const Expr& k) -> PlainElement {
    if (g.a.layout == Layout::kRow) return {(at.matrix * g.m + row) * g.k + k};
    return {(at.matrix * g.k + k) * g.m + row};
  };
  p.b = [g](const PlainPlace& at, const Expr& k, const Expr& column) {
    if (g.b.layout == Layout::kRow) return (at.matrix * g.k + k) * g.n + column;
    return (at.matrix * g.n + column) * g.k + k;
  };
  p.output = [g, columns_of_c](const PlainPlace& at, const Expr& row, const Expr& column) {
    if (g.c.layout == Layout::kRow) return (at.matrix * g.m + row) * columns_of_c + column;
    return (at.matrix * columns_of_c + column) * g.m + row;
  };
  return p;
}

/// Returns the pixel that a pool's windows read in one direction. Windows of a mean lie in the image. For a
/// maximum, a pixel outside of it is replaced by the nearest one of the same window that is inside.
Expr pixel_of(const PoolWindows& windows, const Expr& number, const Expr& of_window, std::int64_t pixels) {
  if (windows.window == 1) return number;
  Expr pixel = number * windows.stride + of_window - windows.before;
  if (windows.before > 0) pixel = max(pixel, integer(0));
  if (windows.after > 0) pixel = min(pixel, integer(pixels - 1));
  return pixel;
}

class Images {
 public:
  explicit Images(const Workload& workload)
      : conv_(workload.conv2d()),
        windows_(windows_of(workload.epilogue)),
        size_(output_size(conv_, workload.epilogue)) {}

  PlainElement input(const PlainPlace& at, const Expr& row, const Expr& k) const {
    const std::int64_t channels = conv_.c / conv_.groups;
    const bool nhwc = conv_.layout == ImageLayout::kNhwc;
    const Expr channel = at.group * channels + (nhwc ? k % channels : k / (conv_.r * conv_.s));
    const Expr r = nhwc ? k / (conv_.s * channels) : k / conv_.s % conv_.r;
    const Expr s = nhwc ? k / channels % conv_.s : k % conv_.s;
    const auto [image, line, column] = pixel(row);
    const Expr y = pixel_of(windows_, line, at.window_row, conv_.out_h()) * conv_.stride_h +
                   r * conv_.dilation_h - conv_.pad_top;
    const Expr x = pixel_of(windows_, column, at.window_column, conv_.out_w()) * conv_.stride_w +
                   s * conv_.dilation_w - conv_.pad_left;
    return {nhwc ? ((image * conv_.h + y) * conv_.w + x) * conv_.c + channel
                 : ((image * conv_.c + channel) * conv_.h + y) * conv_.w + x,
            pixel_inside(conv_, y, x, conv_.out_h(), conv_.out_w())};
  }

  Expr filter(const PlainPlace& at, const Expr& k, const Expr& column) const {
    return (at.group * (conv_.k / conv_.groups) + column) * conv_.products() + k;
  }

  Expr output(const PlainPlace& at, const Expr& row, const Expr& column) const {
    const Expr channel = at.group * (conv_.k / conv_.groups) + column;
    if (conv_.layout == ImageLayout::kNhwc) return row * conv_.k + channel;
    const std::int64_t pixels = size_.height * size_.width;
    return (row / pixels * conv_.k + channel) * pixels + row % pixels;
  }

 private:
  struct Pixel {
    Expr image, line, column;
  };
  Pixel pixel(const Expr& row) const {
    return {row / (size_.height * size_.width), row / size_.width % size_.height, row % size_.width};
  }

  Conv2d conv_;
  PoolWindows windows_;
  ImageSize size_;
};

std::optional<PlainProduct> product_of_images(const Workload& workload) {
  const Conv2d& conv = workload.conv2d();
  if (std::max(conv.h + conv.pad_top + conv.pad_bottom, conv.w + conv.pad_left + conv.pad_right) > INT32_MAX)
    return std::nullopt;
  const Images images(workload);
  const ImageSize size = output_size(conv, workload.epilogue);
  PlainProduct p;
  p.rows = conv.n * size.height * size.width;
  p.groups = conv.groups;
  p.columns = conv.k / conv.groups;
  p.depth = conv.products();
  p.window = window_of(workload.epilogue);
  p.a_along_k = conv.layout == ImageLayout::kNhwc;
  p.b_along_k = true;
  p.a = [images](const PlainPlace& at, const Expr& row, const Expr& k) { return images.input(at, row, k); };
  p.b = [images](const PlainPlace& at, const Expr& k, const Expr& column) {
    return images.filter(at, k, column);
  };
  p.output = [images](const PlainPlace& at, const Expr& row, const Expr& column) {
    return images.output(at, row, column);
  };
  return p;
}

struct OperatorRow {
  Operator op;
  std::optional<PlainProduct> (*product)(const Workload& workload);
};
constexpr OperatorRow kProducts[] = {{Operator::kGemm, &product_of_matrices},
                                     {Operator::kConv2d, &product_of_images}};

}  // namespace

std::optional<PlainProduct> plain_product(const Workload& workload) {
  const auto* const row = std::ranges::find(kProducts, workload.op(), &OperatorRow::op);
  return row != std::end(kProducts) ? row->product(workload) : std::nullopt;
}

}  // namespace lehr
