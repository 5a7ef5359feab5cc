// The definition, a filter tap at a time, so that the inner loop runs over the pixels of one line.
#include "workload/conv2d/output_rows.h"

#include <algorithm>

namespace lehr {
namespace {

struct Row {
  std::int64_t image, channel, line;
};

Row row_at(const Conv2d& conv, std::int64_t row) {
  const std::int64_t lines = conv.out_h();
  return {row / (conv.k * lines), row / lines % conv.k, row % lines};
}

}  // namespace

void reference_row(const Conv2d& conv, const float* x, const float* f, std::int64_t row,
                   std::vector<double>& sums) {
  const bool nchw = conv.layout == ImageLayout::kNchw;
  const Row at = row_at(conv, row);
  const std::int64_t channels = conv.c / conv.groups;  // that one filter sees
  const std::int64_t first_channel = at.channel / (conv.k / conv.groups) * channels;
  const std::int64_t width = conv.out_w();
  const std::int64_t pixel = nchw ? 1 : conv.c;  // distance of neighbours in a line
  sums.assign(static_cast<std::size_t>(width), 0.0);
  for (std::int64_t r = 0; r < conv.r; ++r) {
    const std::int64_t iy = at.line * conv.stride_h + r * conv.dilation_h - conv.pad_top;
    if (iy < 0 || iy >= conv.h) continue;
    for (std::int64_t s = 0; s < conv.s; ++s) {
      const std::int64_t shift = s * conv.dilation_w - conv.pad_left;
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::int64_t channel = first_channel + c;
        const float* line = nchw ? x + ((at.image * conv.c + channel) * conv.h + iy) * conv.w
                                 : x + (at.image * conv.h + iy) * conv.w * conv.c + channel;
        const double weight = nchw ? f[((at.channel * channels + c) * conv.r + r) * conv.s + s]
                                   : f[((at.channel * conv.r + r) * conv.s + s) * channels + c];
        for (std::int64_t ox = 0; ox < width; ++ox) {
          const std::int64_t ix = ox * conv.stride_w + shift;
          if (ix >= 0 && ix < conv.w) sums[static_cast<std::size_t>(ox)] += weight * line[ix * pixel];
        }
      }
    }
  }
}

PixelRange pixels_of_window(const PoolWindows& windows, std::int64_t number, std::int64_t pixels) {
  const std::int64_t begin = number * windows.stride - windows.before;
  const std::int64_t first = std::max<std::int64_t>(begin, 0);
  return {first, std::min(begin + windows.window, pixels) - first};
}

OutputRow output_row(const Conv2d& conv, const PoolWindows& windows, std::int64_t row) {
  const std::int64_t lines = windows.over(conv.out_h()), width = windows.over(conv.out_w());
  OutputRow at;
  at.image = row / (conv.k * lines), at.channel = row / lines % conv.k, at.line = row % lines;
  const PixelRange range = pixels_of_window(windows, at.line, conv.out_h());
  at.first_row = (at.image * conv.k + at.channel) * conv.out_h() + range.first;
  at.rows = range.count;
  const bool nchw = conv.layout == ImageLayout::kNchw;
  at.first_index = nchw ? row * width : (at.image * lines + at.line) * width * conv.k + at.channel;
  at.step = nchw ? 1 : conv.k;
  return at;
}

}  // namespace lehr
