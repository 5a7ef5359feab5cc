#include "workload/conv2d/conv2d.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "base/error.h"

namespace lehr {
namespace {

constexpr std::int64_t kLimit = std::int64_t{1} << 31;  // indices are 32-bit on CUDA (ir/type.h)

void check_range(std::string_view name, std::int64_t value, std::int64_t least) {
  if (value < least || value >= kLimit)
    throw_user("{}={} is out of range: it is a whole number from {} to {}", name, value, least, kLimit - 1);
}

void check_elements(std::string_view name, std::initializer_list<std::int64_t> extents) {
  double elements = 1;
  for (const std::int64_t extent : extents) elements *= static_cast<double>(extent);
  if (elements >= static_cast<double>(kLimit))
    throw_user("{} would have {:.3g} elements ({}); at most {} are supported", name, elements,
               fmt::join(extents, " x "), kLimit - 1);
}

}  // namespace

void validate(const Conv2d& conv) {
  for (const auto& [name, value] : {std::pair{"n", conv.n},
                                    {"h", conv.h},
                                    {"w", conv.w},
                                    {"c", conv.c},
                                    {"k", conv.k},
                                    {"r", conv.r},
                                    {"s", conv.s},
                                    {"groups", conv.groups}})
    check_range(name, value, 1);
  for (const auto& [name, value] : {std::pair{"stride", conv.stride_h},
                                    {"stride", conv.stride_w},
                                    {"dilation", conv.dilation_h},
                                    {"dilation", conv.dilation_w}})
    check_range(name, value, 1);
  for (const std::int64_t pad : {conv.pad_top, conv.pad_bottom, conv.pad_left, conv.pad_right})
    check_range("pad", pad, 0);
  for (const auto& [name, channels] : {std::pair{"c", conv.c}, {"k", conv.k}})
    if (channels % conv.groups != 0)
      throw_user("groups={} does not divide {}={}", conv.groups, name, channels);
  // Checked before out_h(), whose division would round a negative height towards zero.
  const std::int64_t tall = conv.dilation_h * (conv.r - 1) + 1, wide = conv.dilation_w * (conv.s - 1) + 1;
  if (tall > conv.h + conv.pad_top + conv.pad_bottom || wide > conv.w + conv.pad_left + conv.pad_right)
    throw_user("the filter covers {} x {} pixels, more than the padded image of {} x {}", tall, wide,
               conv.h + conv.pad_top + conv.pad_bottom, conv.w + conv.pad_left + conv.pad_right);
  check_elements("the input", {conv.n, conv.c, conv.h, conv.w});
  check_elements("the filter", {conv.k, conv.c / conv.groups, conv.r, conv.s});
  check_elements("the output", {conv.n, conv.k, conv.out_h(), conv.out_w()});
  validate_types(conv.input, conv.filter, conv.output);
  validate(conv.math, conv.input, conv.filter, conv.accum);
  validate(conv.zero, conv.input, conv.accum);
}

std::vector<TensorSpec> tensors_of(const Conv2d& conv) {
  std::vector<TensorSpec> tensors = {
      {"x", conv.input, conv.n * conv.c * conv.h * conv.w, TensorRole::kInput},
      {"f", conv.filter, conv.k * conv.products(), TensorRole::kInput, true},
      {"y", conv.output, conv.n * conv.k * conv.out_h() * conv.out_w(), TensorRole::kOutput}};
  if (conv.zero == ZeroPoint::kInput) tensors.push_back({"x_zero", conv.input, 1, TensorRole::kInput});
  return tensors;
}

namespace {

/// Returns the shape of a dense tensor of `outer` images or filters, in the order of the layout.
std::vector<Dimension> image_shape(const Conv2d& conv, std::int64_t outer, std::int64_t height,
                                   std::int64_t width, const Dimension& channels) {
  std::vector<Dimension> shape = {{outer}, {height}, {width}};
  shape.insert(conv.layout == ImageLayout::kNchw ? shape.begin() + 1 : shape.end(), channels);
  for (std::size_t i = shape.size() - 1; i-- > 0;) shape[i].stride = shape[i + 1].size * shape[i + 1].stride;
  return shape;
}

}  // namespace

std::vector<Dimension> shape_of(const Conv2d& conv, const Epilogue& epilogue) {
  const ImageSize image = output_size(conv, epilogue);
  return image_shape(conv, conv.n, image.height, image.width,
                     {.size = conv.k, .part = conv.groups > 1 ? conv.k / conv.groups : 0});
}

std::vector<std::vector<Dimension>> input_shapes_of(const Conv2d& conv) {
  return {image_shape(conv, conv.n, conv.h, conv.w, {conv.c}),
          image_shape(conv, conv.k, conv.r, conv.s, {conv.c / conv.groups})};
}

void set_types(Conv2d& conv, DType inputs, DType output) {
  conv.input = conv.filter = inputs;
  conv.output = output;
}

std::int64_t channels_of(const Conv2d& conv) {
  return conv.k;
}

ProductSums product_sums(const Conv2d& conv) {
  return {.products = conv.products(),
          .operand = conv.input,
          .second = conv.filter,
          .accum = conv.accum,
          .math = conv.math,
          .zero = conv.zero,
          .of_matrices = conv.c > conv.groups};
}

std::string_view sliced_size(const Conv2d&) {
  return "n";
}

double flops_of(const Conv2d& conv) {
  return 2.0 * static_cast<double>(conv.n * conv.k) * static_cast<double>(conv.out_h() * conv.out_w()) *
         static_cast<double>(conv.products());
}

namespace {

/// Returns the number of pairs of an output and a tap that meet a pixel, along one dimension of the image.
double pairs_inside(std::int64_t outputs, std::int64_t taps, std::int64_t stride, std::int64_t dilation,
                    std::int64_t pad, std::int64_t size) {
  std::int64_t pairs = 0;
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    // Outputs with 0 <= output * stride + shift < size.
    const std::int64_t shift = tap * dilation - pad;
    const std::int64_t first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
    const std::int64_t end = size > shift ? (size - shift + stride - 1) / stride : 0;
    pairs += std::max<std::int64_t>(0, std::min(end, outputs) - first);
  }
  return static_cast<double>(pairs);
}

}  // namespace

double needed_flops_of(const Conv2d& whole, const Epilogue& epilogue) {
  const Conv2d conv = pooled_part(whole, epilogue);
  const double rows =
      pairs_inside(conv.out_h(), conv.r, conv.stride_h, conv.dilation_h, conv.pad_top, conv.h);
  const double columns =
      pairs_inside(conv.out_w(), conv.s, conv.stride_w, conv.dilation_w, conv.pad_left, conv.w);
  return 2.0 * static_cast<double>(conv.n * conv.k) * static_cast<double>(conv.c / conv.groups) * rows *
         columns;
}

ImageSize output_size(const Conv2d& conv, const Epilogue& epilogue) {
  const PoolWindows windows = windows_of(epilogue);
  return {windows.over(conv.out_h()), windows.over(conv.out_w())};
}

Conv2d pooled_part(Conv2d conv, const Epilogue& epilogue) {
  const PoolWindows windows = windows_of(epilogue);
  const auto behind_the_last = [&](std::int64_t pixels) {
    const std::int64_t end = (windows.over(pixels) - 1) * windows.stride + windows.window - windows.before;
    return std::max<std::int64_t>(pixels - end, 0);
  };
  const std::int64_t rows = behind_the_last(conv.out_h()), columns = behind_the_last(conv.out_w());
  // The remaining outputs keep the inputs that they had.
  const auto crop = [](std::int64_t& pad, std::int64_t size, std::int64_t span, std::int64_t stride,
                       std::int64_t left_out) {
    if (left_out == 0) return;
    const std::int64_t unused = (size - span) % stride;
    pad -= unused + left_out * stride;
  };
  crop(conv.pad_bottom, conv.h + conv.pad_top + conv.pad_bottom, conv.dilation_h * (conv.r - 1) + 1,
       conv.stride_h, rows);
  crop(conv.pad_right, conv.w + conv.pad_left + conv.pad_right, conv.dilation_w * (conv.s - 1) + 1,
       conv.stride_w, columns);
  return conv;
}

}  // namespace lehr
