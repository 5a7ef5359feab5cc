#include "workload/conv2d/conv2d_reference.h"

#include <algorithm>

#include "workload/conv2d/winograd.h"
#include "workload/reference_epilogue.h"
#include "workload/tolerance.h"

namespace lehr {
namespace {

// Sets `sums` to the out_w() sums of line `y`. Computes the definition, one filter tap at a time, so that the
// inner loop runs over the pixels of one line.
void sums_of_line(const Conv2d& conv, std::span<const std::vector<float>> inputs, std::int64_t image,
                  std::int64_t k, std::int64_t y, std::vector<double>& sums) {
  const float *const x = inputs[0].data(), *const f = inputs[1].data();
  const double zero = conv.zero == ZeroPoint::kInput ? inputs[kZeroInput][0] : 0.0;
  const bool nchw = conv.layout == ImageLayout::kNchw;
  const std::int64_t channels = conv.c / conv.groups;  // input channels of one filter
  const std::int64_t first_channel = k / (conv.k / conv.groups) * channels;
  const std::int64_t width = conv.out_w();
  const std::int64_t pixel = nchw ? 1 : conv.c;  // distance of neighbouring pixels of a line
  sums.assign(static_cast<std::size_t>(width), 0.0);
  for (std::int64_t r = 0; r < conv.r; ++r) {
    const std::int64_t iy = y * conv.stride_h + r * conv.dilation_h - conv.pad_top;
    if (iy < 0 || iy >= conv.h) continue;
    for (std::int64_t s = 0; s < conv.s; ++s) {
      const std::int64_t shift = s * conv.dilation_w - conv.pad_left;
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::int64_t channel = first_channel + c;
        const float* line = nchw ? x + ((image * conv.c + channel) * conv.h + iy) * conv.w
                                 : x + (image * conv.h + iy) * conv.w * conv.c + channel;
        const double weight = nchw ? f[((k * channels + c) * conv.r + r) * conv.s + s]
                                   : f[((k * conv.r + r) * conv.s + s) * channels + c];
        for (std::int64_t ox = 0; ox < width; ++ox) {
          const std::int64_t ix = ox * conv.stride_w + shift;
          if (ix >= 0 && ix < conv.w)
            sums[static_cast<std::size_t>(ox)] += weight * (line[ix * pixel] - zero);
        }
      }
    }
  }
}

/// First pixel of a window that lies in the image, and the number of the window's pixels in the image.
struct PixelRange {
  std::int64_t first = 0, count = 0;
};
PixelRange pixels_of_window(const PoolWindows& windows, std::int64_t number, std::int64_t pixels) {
  const std::int64_t begin = number * windows.stride - windows.before;
  const std::int64_t first = std::max<std::int64_t>(begin, 0);
  return {first, std::min(begin + windows.window, pixels) - first};
}

/// Returns the sum of one pixel before the epilogue.
double pixel(const Conv2d& conv, std::span<const MadeInput> inputs, std::int64_t image, std::int64_t channel,
             std::int64_t y, std::int64_t x) {
  const bool nchw = conv.layout == ImageLayout::kNchw;
  const std::int64_t channels = conv.c / conv.groups;
  const std::int64_t first = channel / (conv.k / conv.groups) * channels;
  const double zero = conv.zero == ZeroPoint::kInput ? inputs[kZeroInput][0] : 0.0;
  double sum = 0;
  for (std::int64_t r = 0; r < conv.r; ++r)
    for (std::int64_t s = 0; s < conv.s; ++s) {
      const std::int64_t iy = y * conv.stride_h + r * conv.dilation_h - conv.pad_top;
      const std::int64_t ix = x * conv.stride_w + s * conv.dilation_w - conv.pad_left;
      if (iy < 0 || iy >= conv.h || ix < 0 || ix >= conv.w) continue;
      const std::int64_t at_x = nchw ? ((image * conv.c + first) * conv.h + iy) * conv.w + ix
                                     : ((image * conv.h + iy) * conv.w + ix) * conv.c + first;
      const std::int64_t at_f = nchw ? (channel * channels * conv.r + r) * conv.s + s
                                     : ((channel * conv.r + r) * conv.s + s) * channels;
      sum += dot(InputLine{inputs[0], at_x, nchw ? conv.h * conv.w : 1, zero},
                 InputLine{inputs[1], at_f, nchw ? conv.r * conv.s : 1}, channels);
    }
  return sum;
}

}  // namespace

OutputLines reference_lines(const Conv2d& conv, const Epilogue& epilogue) {
  // One line per image, channel and output line, in this order, whatever the layout is.
  return {.rows = conv.n * conv.k * output_size(conv, epilogue).height};
}

void reference_line(const Conv2d& conv, const Epilogue& epilogue, std::span<const std::vector<float>> inputs,
                    std::int64_t, std::int64_t row, std::span<OutputLine> outputs) {
  OutputLine& line = outputs[0];
  const PoolWindows windows = windows_of(epilogue);
  const std::int64_t lines = windows.over(conv.out_h()), width = windows.over(conv.out_w());
  const std::int64_t image = row / (conv.k * lines), channel = row / lines % conv.k, number = row % lines;
  const bool nchw = conv.layout == ImageLayout::kNchw;
  line.first = nchw ? row * width : (image * lines + number) * width * conv.k + channel;
  line.step = nchw ? 1 : conv.k;
  const PixelRange down = pixels_of_window(windows, number, conv.out_h());
  std::vector<std::vector<double>> sums(static_cast<std::size_t>(down.count));
  for (std::size_t i = 0; i < sums.size(); ++i)
    sums_of_line(conv, inputs, image, channel, down.first + static_cast<std::int64_t>(i), sums[i]);
  const std::span<const std::vector<float>> operands = epilogue_inputs(epilogue, inputs);
  line.values.clear();
  for (std::int64_t column = 0; column < width; ++column) {
    const PixelRange range = pixels_of_window(windows, column, conv.out_w());
    std::vector<double> pixels;
    for (const std::vector<double>& of_line : sums)
      for (std::int64_t i = range.first; i < range.first + range.count; ++i)
        pixels.push_back(reference_value(epilogue, of_line[static_cast<std::size_t>(i)], operands, channel,
                                         line.first + column * line.step));
    line.values.push_back(reference_stored(
        conv.output,
        windows.window > 1 ? reference_pooled<std::vector<float>>(epilogue, pixels, operands) : pixels[0]));
  }
}

// Computes the definition a second time. It shares only the windows and the epilogue with the code for whole
// rows.
float reference_element(const Conv2d& conv, const Epilogue& epilogue, std::span<const MadeInput> inputs,
                        std::size_t, std::int64_t index) {
  const PoolWindows windows = windows_of(epilogue);
  const std::int64_t lines = windows.over(conv.out_h()), width = windows.over(conv.out_w());
  const bool nchw = conv.layout == ImageLayout::kNchw;
  const std::int64_t of_pixel = nchw ? index : index / conv.k;
  const std::int64_t column = of_pixel % width, line = of_pixel / width % lines;
  const std::int64_t channel = nchw ? index / (width * lines) % conv.k : index % conv.k;
  const std::int64_t image = index / (width * lines * conv.k);
  const PixelRange down = pixels_of_window(windows, line, conv.out_h());
  const PixelRange across = pixels_of_window(windows, column, conv.out_w());
  const std::span<const MadeInput> operands = epilogue_inputs(epilogue, inputs);
  std::vector<double> pixels;
  for (std::int64_t y = down.first; y < down.first + down.count; ++y)
    for (std::int64_t x = across.first; x < across.first + across.count; ++x)
      pixels.push_back(
          reference_value(epilogue, pixel(conv, inputs, image, channel, y, x), operands, channel, index));
  return reference_stored(conv.output,
                          windows.window > 1 ? reference_pooled(epilogue, pixels, operands) : pixels[0]);
}

// Padding only removes products, so the bound of the full sums holds.
double reference_tolerance(const Conv2d& conv, const Epilogue& epilogue, std::int64_t elements) {
  const std::int64_t sums = sums_of(epilogue, elements);
  if (conv.accum == DType::kS32) return tolerance_behind_integers(epilogue, product_sums(conv), sums);
  double tolerance = tolerance_of_sums(product_sums(conv), sums);
  if (winograd_applies(conv)) tolerance = std::max(tolerance, winograd_tolerance(conv, sums));
  return tolerance_behind_sums(epilogue, tolerance, conv.products(), sums);
}

}  // namespace lehr
