#include "workload/conv2d/conv2d.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/error.h"
#include "workload/field_of.h"
#include "workload/operator.h"
#include "workload/reference.h"

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

void validate_conv2d(const Workload& workload) {
  const Conv2d& conv = workload.conv2d();
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

std::vector<TensorSpec> conv2d_tensors(const Workload& workload) {
  const Conv2d& conv = workload.conv2d();
  return {{"x", conv.input, conv.n * conv.c * conv.h * conv.w, TensorRole::kInput},
          {"f", conv.filter, conv.k * conv.products(), TensorRole::kInput, true},
          {"y", conv.output, conv.n * conv.k * conv.out_h() * conv.out_w(), TensorRole::kOutput}};
}

std::vector<Dimension> conv2d_shape(const Workload& workload, std::int64_t elements) {
  const Conv2d& conv = workload.conv2d();
  const ImageSize image = output_size(workload);
  const std::int64_t channels = elements / (conv.n * image.height * image.width);
  std::vector<Dimension> shape;
  if (conv.layout == ImageLayout::kNchw)
    shape = {{conv.n}, {channels}, {image.height}, {image.width}};
  else
    shape = {{conv.n}, {image.height}, {image.width}, {channels}};
  for (std::size_t i = shape.size() - 1; i-- > 0;) shape[i].stride = shape[i + 1].size * shape[i + 1].stride;
  return shape;
}

double conv2d_flops(const Workload& workload) {
  const Conv2d& conv = workload.conv2d();
  return 2.0 * static_cast<double>(conv.n * conv.k) * static_cast<double>(conv.out_h() * conv.out_w()) *
         static_cast<double>(conv.products());
}

constexpr std::string_view kLayouts[] = {"nchw", "nhwc"};

template <auto kMember>
constexpr Field size(std::string_view key, std::string_view help) {
  return field<kMember>(key, help).sizes().without_quotes();
}

template <auto kMember>
constexpr Field type(std::string_view key, std::string_view help = {}) {
  return field<kMember>(key, help).or_operand();
}

constexpr Field kFields[] = {
    size<&Conv2d::n>("n", "images: 1 | 1,8 | 8:64:8 (start:end:step) (1)").usually("1"),
    size<&Conv2d::h>("h", "height of the input; these and the next five take lists, too").needed(),
    size<&Conv2d::w>("w", "width of the input").needed(),
    size<&Conv2d::c>("c", "input channels").needed(),
    size<&Conv2d::k>("k", "output channels").needed(),
    size<&Conv2d::r>("r", "height of a filter").needed(),
    size<&Conv2d::s>("s", "width of a filter (as --r)"),
    numbers<&Conv2d::stride_h, &Conv2d::stride_w>("stride",
                                                  "2 | 2x1 (vertical x horizontal) | 1,2 (a list) (1)")
        .list()
        .usually("1"),
    numbers<&Conv2d::pad_top, &Conv2d::pad_bottom, &Conv2d::pad_left, &Conv2d::pad_right>(
        "pad", "1 | 1x2 (vertical x horizontal) | 0x1x0x1 (top x bottom x left x right) (0)")
        .usually("0"),
    numbers<&Conv2d::dilation_h, &Conv2d::dilation_w>("dilation", "2 | 2x1 (1)").usually("1"),
    size<&Conv2d::groups>("groups", "groups of channels; as many as channels: depthwise (1)").usually("1"),
    field<&Conv2d::layout>("layout", "nchw | nhwc (nchw)").one_of(kLayouts).usually("nchw"),
    type<&Conv2d::input>("x"),
    type<&Conv2d::filter>("f"),
    shorthand("dtype", "type of x and f (f32)").usually("f32"),
    type<&Conv2d::output>("y", "type of y (that of x; s32 for s8, f32 for e4m3 and e5m2)"),
    type<&Conv2d::accum>("accum", "type of the sums (s32 for integers, else f32)"),
    field<&Conv2d::math>(
        "math",
        "strict | tf32 | 3xtf32: what f32 inputs may be rounded to on the way; two_level: as for "
        "gemm (strict)")
        .usually("strict")
        .added_later(),
    field<&Workload::epilogue>("epilogue",
                               "what is done to y before it is stored, in order: bias+relu, bias+gelu, "
                               "scale_shift+residual+relu, bias+relu+maxpool(2), ... (none)")
        .usually("none"),
};

void complete_conv2d(Workload& workload, const GivenFlags& given) {
  Conv2d& conv = workload.conv2d();
  conv.input = conv.filter = parse_operand(given("dtype")).type;
  if (given("y").empty()) conv.output = output_for(conv.input);
  if (given("accum").empty()) conv.accum = sums_for(conv.input);
  // One list for both sides of a filter means square filters.
  if (given("s").empty()) conv.s = conv.r;
}

}  // namespace

OperatorTable conv2d_operator() {
  return {.name = "conv2d",
          .thing = "convolution over images",
          .article = "a convolution",
          .formula = "y (n x k x out_h x out_w) = x (n x c x h x w) filtered by f (k x c x r x s)",
          .fields = kFields,
          .usual = {Conv2d(), {}},
          .complete = &complete_conv2d,
          .validate = &validate_conv2d,
          .tensors = &conv2d_tensors,
          .shape = &conv2d_shape,
          .channels = [](const Workload& workload) { return workload.conv2d().k; },
          .slices = [](const Workload&) { return std::string_view("n"); },
          .flops = &conv2d_flops,
          .reference = &conv2d_reference,
          .element = &conv2d_element,
          .tolerance = &conv2d_tolerance};
}

}  // namespace lehr
