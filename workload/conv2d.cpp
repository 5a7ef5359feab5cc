#include "workload/conv2d.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "workload/gemm.h"

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

std::vector<std::int64_t> numbers_of(std::string_view what, std::string_view text) {
  std::vector<std::int64_t> numbers;
  for (const std::string_view part : split(text, 'x')) {
    const auto number = parse_int(part);
    if (!number) throw_user("{}={}: '{}' is not a whole number", what, text, part);
    numbers.push_back(*number);
  }
  return numbers;
}

std::string_view name_of(ImageLayout layout) {
  return layout == ImageLayout::kNchw ? "nchw" : "nhwc";
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
  // Before out_h(), whose division would round a negative height towards zero.
  const std::int64_t tall = conv.dilation_h * (conv.r - 1) + 1, wide = conv.dilation_w * (conv.s - 1) + 1;
  if (tall > conv.h + conv.pad_top + conv.pad_bottom || wide > conv.w + conv.pad_left + conv.pad_right)
    throw_user("the filter covers {} x {} pixels, more than the padded image of {} x {}", tall, wide,
               conv.h + conv.pad_top + conv.pad_bottom, conv.w + conv.pad_left + conv.pad_right);
  check_elements("the input", {conv.n, conv.c, conv.h, conv.w});
  check_elements("the filter", {conv.k, conv.c / conv.groups, conv.r, conv.s});
  check_elements("the output", {conv.n, conv.k, conv.out_h(), conv.out_w()});
  validate(conv.math, conv.input, conv.filter, conv.accum);
}

std::string to_text(const Conv2d& conv) {
  return fmt::format(
      "conv2d n={} h={} w={} c={} k={} r={} s={} stride={}x{} pad={}x{}x{}x{} dilation={}x{} groups={} "
      "layout={} x={} f={} y={} accum={}",
      conv.n, conv.h, conv.w, conv.c, conv.k, conv.r, conv.s, conv.stride_h, conv.stride_w, conv.pad_top,
      conv.pad_bottom, conv.pad_left, conv.pad_right, conv.dilation_h, conv.dilation_w, conv.groups,
      name_of(conv.layout), name_of(conv.input), name_of(conv.filter), name_of(conv.output),
      name_of(conv.accum));
}

void parse_pair(std::string_view what, std::string_view text, std::int64_t& vertical,
                std::int64_t& horizontal) {
  const std::vector<std::int64_t> numbers = numbers_of(what, text);
  if (numbers.size() > 2) throw_user("{}={}: write one number, or two as in 2x1", what, text);
  vertical = numbers.front();
  horizontal = numbers.back();
}

void parse_padding(std::string_view text, Conv2d& conv) {
  const std::vector<std::int64_t> n = numbers_of("pad", text);
  if (n.size() != 1 && n.size() != 2 && n.size() != 4)
    throw_user("pad={}: write one number, two (vertical x horizontal) or four (top x bottom x left x right)",
               text);
  const std::size_t vertical = 0, horizontal = n.size() / 2;
  conv.pad_top = n[vertical];
  conv.pad_bottom = n[n.size() == 4 ? 1 : vertical];
  conv.pad_left = n[horizontal];
  conv.pad_right = n[n.size() == 4 ? 3 : horizontal];
}

bool set_field(Conv2d& conv, std::string_view key, std::string_view value) {
  for (const auto& [name, field] : {std::pair{"n", &conv.n},
                                    {"h", &conv.h},
                                    {"w", &conv.w},
                                    {"c", &conv.c},
                                    {"k", &conv.k},
                                    {"r", &conv.r},
                                    {"s", &conv.s},
                                    {"groups", &conv.groups}}) {
    if (key != name) continue;
    const auto number = parse_sum(value);
    if (!number) throw_user("{}={} is not a whole number", key, value);
    *field = *number;
    return true;
  }
  for (const auto& [name, type] :
       {std::pair{"x", &conv.input}, {"f", &conv.filter}, {"y", &conv.output}, {"accum", &conv.accum}}) {
    if (key != name) continue;
    *type = parse_operand(value).type;
    return true;
  }
  if (key == "stride") {
    parse_pair(key, value, conv.stride_h, conv.stride_w);
  } else if (key == "dilation") {
    parse_pair(key, value, conv.dilation_h, conv.dilation_w);
  } else if (key == "pad") {
    parse_padding(value, conv);
  } else if (key == "layout") {
    if (value != "nchw" && value != "nhwc") throw_user("unknown layout '{}'; known are nchw, nhwc", value);
    conv.layout = value == "nchw" ? ImageLayout::kNchw : ImageLayout::kNhwc;
  } else if (key == "math") {
    conv.math = parse_math(value);
  } else {
    return false;
  }
  return true;
}

}  // namespace lehr
