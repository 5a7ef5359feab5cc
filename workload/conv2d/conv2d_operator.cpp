#include "workload/conv2d/conv2d_operator.h"

#include "workload/conv2d/conv2d_reference.h"
#include "workload/field_of.h"
#include "workload/operator_functions.h"

namespace lehr {
namespace {

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
    shorthand("dtype", "type of x and f (f32); of u8: f is s8").usually("f32"),
    type<&Conv2d::output>("y",
                          "type of y (that of x; s32 for s8 and u8, f32 for e4m3 and e5m2; f32 behind "
                          "dequant, that of x behind quant)"),
    type<&Conv2d::accum>("accum", "type of the sums (s32 for integers, else f32)"),
    field<&Conv2d::math>(
        "math",
        "strict | tf32 | 3xtf32: what f32 inputs may be rounded to on the way; two_level: as for "
        "gemm (strict)")
        .usually("strict")
        .added_later(),
    field<&Workload::epilogue>("epilogue",
                               "what is done to y before it is stored, in order: bias+relu, bias+gelu, "
                               "scale_shift+residual+relu, bias+relu+maxpool(2), ...; of u8 and s8: "
                               "dequant+bias+residual(u8)+relu+quant, ... (none)")
        .usually("none"),
    field<&Conv2d::zero>("zero",
                         "none | input: what is taken from each element of x, of u8 or s8, and what padding "
                         "counts as: an input of one element behind y (none)")
        .usually("none")
        .added_later(),
};

void complete_conv2d(Workload& workload, const GivenFlags& given) {
  Conv2d& conv = workload.conv2d();
  conv.input = parse_operand(given("dtype")).type;
  conv.filter = second_for(conv.input);
  if (given("y").empty()) conv.output = output_for(conv.input, workload.epilogue);
  if (given("accum").empty()) conv.accum = sums_for(conv.input);
  // If only one list of filter sizes is given, filters are square.
  if (given("s").empty()) conv.s = conv.r;
}

ImageSums images_of_sums(const Workload& workload) {
  const Conv2d& conv = workload.conv2d();
  return {conv.n, conv.k, conv.groups, conv.out_h(), conv.out_w(), conv.layout};
}

}  // namespace

OperatorTable conv2d_operator() {
  return with_functions<Conv2d>(
      {.name = "conv2d",
       .thing = "convolution over images",
       .article = "a convolution",
       .formula = "y (n x k x out_h x out_w) = x (n x c x h x w) filtered by f (k x c x r x s)",
       .fields = kFields,
       .usual = {Conv2d(), {}},
       .complete = &complete_conv2d,
       .needed_flops = [](const Workload& w) { return needed_flops_of(w.conv2d(), w.epilogue); },
       .images = &images_of_sums,
       .set_layout = [](Workload& w, ImageLayout layout) { w.conv2d().layout = layout; }});
}

}  // namespace lehr
