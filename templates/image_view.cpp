#include "templates/image_view.h"

#include <utility>

namespace lehr {

using namespace ir;

namespace {

struct Taps {
  Expr channel, row, column;  ///< of the filter
};

Taps taps_of(const Conv2d& conv, const Expr& q) {
  if (conv.layout == ImageLayout::kNhwc) return {q % conv.c, q / (conv.s * conv.c), q / conv.c % conv.s};
  return {q / (conv.r * conv.s), q / conv.s % conv.r, q % conv.s};
}

struct Place {
  Expr image, row, column;  ///< of the input, with padding: may lie outside
};

Place place_of(const Conv2d& conv, const Taps& taps, const Expr& pixel) {
  const std::int64_t width = conv.out_w(), pixels = conv.out_h() * width;
  const bool all_images = conv.layout == ImageLayout::kNhwc && conv.n > 1;
  const Expr of_image = all_images ? pixel % pixels : pixel;
  return {all_images ? pixel / pixels : integer(0),
          of_image / width * conv.stride_h + taps.row * conv.dilation_h - conv.pad_top,
          of_image % width * conv.stride_w + taps.column * conv.dilation_w - conv.pad_left};
}

void require(std::optional<Expr>& all, Expr condition) {
  all = all ? logical_and(std::move(*all), std::move(condition)) : std::move(condition);
}

/// 0 <= at < extent, where the least and the largest value of `at` leave that open.
void require_within(std::optional<Expr>& all, const Expr& at, std::int64_t least, std::int64_t most,
                    std::int64_t extent) {
  if (least < 0) require(all, le(integer(0), at));
  if (most >= extent) require(all, lt(at, integer(extent)));
}

}  // namespace

Expr image_index(const Conv2d& conv, const Expr& base, const Expr& q, const Expr& pixel) {
  const Taps taps = taps_of(conv, q);
  const Place at = place_of(conv, taps, pixel);
  if (conv.layout == ImageLayout::kNhwc)
    return base + ((at.image * conv.h + at.row) * conv.w + at.column) * conv.c + taps.channel;
  return base + (taps.channel * conv.h + at.row) * conv.w + at.column;
}

std::optional<Expr> image_inside(const Conv2d& conv, const Expr& q, const Expr& pixel) {
  const Place at = place_of(conv, taps_of(conv, q), pixel);
  std::optional<Expr> all;
  require_within(all, at.row, -conv.pad_top,
                 (conv.out_h() - 1) * conv.stride_h + (conv.r - 1) * conv.dilation_h - conv.pad_top, conv.h);
  require_within(all, at.column, -conv.pad_left,
                 (conv.out_w() - 1) * conv.stride_w + (conv.s - 1) * conv.dilation_w - conv.pad_left, conv.w);
  return all;
}

std::int64_t image_vector(const Conv2d& conv) {
  if (conv.layout == ImageLayout::kNchw) return 1;
  return conv.c % 4 == 0 ? 4 : conv.c % 2 == 0 ? 2 : 1;
}

}  // namespace lehr
