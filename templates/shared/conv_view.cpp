#include "templates/shared/conv_view.h"

#include <utility>

namespace lehr {
namespace {

/// A convolution along one dimension of the image.
struct Axis {
  std::int64_t size, out, taps, stride, dilation, before, after;
};

/// Returns whether the tap lies outside of the image at every output.
bool is_dead(const Axis& axis, std::int64_t tap) {
  const std::int64_t first = tap * axis.dilation - axis.before, last = first + (axis.out - 1) * axis.stride;
  return last < 0 || first >= axis.size;
}

/// Removes dead taps at both ends, and the padding that they met. Returns the number of taps removed at the
/// beginning.
std::int64_t trim(Axis& axis) {
  std::int64_t dropped = 0;
  while (axis.taps > 1 && axis.before >= axis.dilation && is_dead(axis, 0)) {
    --axis.taps;
    ++dropped;
    axis.before -= axis.dilation;
  }
  while (axis.taps > 1 && axis.after >= axis.dilation && is_dead(axis, axis.taps - 1)) {
    --axis.taps;
    axis.after -= axis.dilation;
  }
  return dropped;
}

void transpose(ConvView& view) {
  Conv2d& conv = view.conv;
  std::swap(conv.h, conv.w);
  std::swap(conv.r, conv.s);
  std::swap(conv.stride_h, conv.stride_w);
  std::swap(conv.dilation_h, conv.dilation_w);
  std::swap(conv.pad_top, conv.pad_left);
  std::swap(conv.pad_bottom, conv.pad_right);
  std::swap(view.row_step, view.column_step);
}

/// Returns whether each output depends on one pixel, with outputs in the order of the pixels, and with the
/// channels contiguous.
bool is_product(const Conv2d& conv) {
  const bool one_tap = conv.r * conv.s == 1 && conv.pad_top == 0 && conv.pad_left == 0;
  if (conv.h * conv.w == 1) {
    // Depthwise convolutions with several filters per channel are served in nchw only.
    const bool has_rows = conv.groups < conv.c || conv.k == conv.c;
    return one_tap && has_rows && conv.out_h() * conv.out_w() == 1;
  }
  return one_tap && conv.layout == ImageLayout::kNhwc && conv.out_h() == conv.h && conv.out_w() == conv.w;
}

/// Joins lines of a product's image that are too short for the tallest register tiles.
void join_lines(Conv2d& conv) {
  constexpr std::int64_t kLongEnough = 24;
  if (conv.w >= kLongEnough) return;
  const std::int64_t lines = std::exchange(conv.n, 1) * conv.h;
  std::int64_t joined = 1;
  while (joined < lines && (lines % joined != 0 || conv.w * joined < kLongEnough)) ++joined;
  conv.h = lines / joined;
  conv.w *= joined;
  conv.layout = ImageLayout::kNhwc;
  conv.stride_h = conv.stride_w = conv.dilation_h = conv.dilation_w = 1;
  conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = 0;
}

}  // namespace

bool ConvView::has_one_run() const {
  return (conv.s == 1 || column_step == 1) && (conv.r == 1 || row_step == conv.s);
}

ir::Expr ConvView::stored_tap(const ir::Expr& row, const ir::Expr& column) const {
  return row * row_step + column * column_step + first_tap;
}

ir::Expr ConvView::stored_tap(const ir::Expr& tap) const {
  if (conv.s == 1) return tap * row_step + first_tap;
  if (row_step == conv.s * column_step) return tap * column_step + first_tap;
  return stored_tap(tap / conv.s, tap % ir::integer(conv.s));
}

ir::Expr ConvView::filter_element(const ir::Expr& filter, const ir::Expr& channel,
                                  const ir::Expr& tap) const {
  const std::int64_t channels = conv.c / conv.groups;
  if (filter_layout == ImageLayout::kNchw) return (filter * channels + channel) * stored_taps + tap;
  return (filter * stored_taps + tap) * channels + channel;
}

ConvView trimmed_view(const Workload& workload) {
  ConvView view{pooled_part(workload.conv2d(), workload.epilogue)};
  Conv2d& conv = view.conv;
  view.filter_layout = conv.layout;
  view.stored_taps = conv.r * conv.s;
  view.row_step = conv.s;
  Axis rows = {conv.h, conv.out_h(), conv.r, conv.stride_h, conv.dilation_h, conv.pad_top, conv.pad_bottom};
  Axis columns = {conv.w,          conv.out_w(),  conv.s,        conv.stride_w,
                  conv.dilation_w, conv.pad_left, conv.pad_right};
  view.first_tap = trim(rows) * view.row_step + trim(columns);
  conv.r = rows.taps;
  conv.pad_top = rows.before;
  conv.pad_bottom = rows.after;
  conv.s = columns.taps;
  conv.pad_left = columns.before;
  conv.pad_right = columns.after;
  return view;
}

ConvView cpu::conv_view(const Workload& workload) {
  ConvView view = trimmed_view(workload);
  Conv2d& conv = view.conv;
  // Windows that lie partly outside could pool the one column to more than one.
  const bool is_column = conv.w == 1 && conv.out_w() == 1 && windows_of(workload.epilogue).over(1) == 1;
  if (is_column && conv.s == 1 && conv.h > 1) transpose(view);
  if (is_product(conv) && window_of(workload.epilogue) == 1) join_lines(conv);
  return view;
}

}  // namespace lehr
