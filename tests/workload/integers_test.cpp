// Tests of integers: their texts, operands and inputs, and the reference against loops that are written out
// here, in the arithmetic that kernels have. `--gtest_random_seed` or the clock seeds them; each failure
// prints the seed.
#include "workload/integers.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "tests/support/make_reference.h"
#include "tests/support/seed.h"
#include "workload/reference_epilogue.h"
#include "workload/workload.h"

namespace lehr {
namespace {

using ::testing::HasSubstr;
using Tensors = std::vector<std::vector<float>>;

std::string message_of(const std::string& text) {
  try {
    parse_workload(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUser) << error.what();
    return error.what();
  }
  return "no error";
}

std::string product(const std::string& more) {
  return "gemm m=5 n=6 k=7 accum=s32 b=s8 " + more;
}

TEST(IntegerText, RoundTrips) {
  for (const char* text :
       {"a=u8 c=s32", "a=s8 c=s32 epilogue=bias", "a=u8 c=f32 epilogue=dequant",
        "a=u8 c=u8 epilogue=bias+dequant+relu+quant zero=input",
        "a=s8 c=s8 epilogue=dequant+bias+residual(u8)+clamp(-1,6)+quant",
        "a=u8 c=f32 epilogue=dequant+residual+gelu_erf", "a=u8 c=u8 epilogue=dequant+residual(bf16)+quant",
        "a=u8 c=f32 epilogue=dequant+bias+swiglu"}) {
    const Workload workload = parse_workload(product(text));
    EXPECT_EQ(parse_workload(to_text(workload)), workload) << text;
  }
  EXPECT_THAT(to_text(parse_workload(product("a=u8 c=s8 epilogue=dequant+residual(s8)+quant zero=input"))),
              HasSubstr("accum=s32 epilogue=dequant+residual(s8)+quant zero=input"));
  const std::string conv = "conv2d h=9 w=9 c=4 k=4 r=3 s=3 x=u8 f=s8 y=u8 accum=s32 epilogue=";
  const Workload pooled = parse_workload(conv + "dequant+bias+relu+maxpool(3,2,1)+quant zero=input");
  EXPECT_EQ(parse_workload(to_text(pooled)), pooled);
  EXPECT_EQ(windows_of(pooled.epilogue), (PoolWindows{3, 2, 1, 1}));
  EXPECT_NE(pooled, parse_workload(conv + "dequant+bias+relu+maxpool(3,2,1)+quant"));
}

TEST(IntegerText, SaysWhatIsWrong) {
  const auto error = [](const std::string& more) { return message_of(product(more)); };
  EXPECT_THAT(error("a=u8 c=u8 epilogue=quant"), HasSubstr("has 'quant' without a dequant before it"));
  EXPECT_THAT(error("a=u8 c=f32 epilogue=residual(u8)"),
              HasSubstr("'residual(u8)' without a dequant before"));
  EXPECT_THAT(error("a=u8 c=f32 epilogue=residual(bf16)"), HasSubstr("without a dequant before it"));
  EXPECT_THAT(error("a=u8 c=u8 epilogue=dequant+quant+relu"), HasSubstr("'relu' behind quant"));
  EXPECT_THAT(error("a=u8 c=f32 epilogue=relu+dequant"),
              HasSubstr("'relu' before dequant, where sums are in"));
  EXPECT_THAT(error("a=u8 c=f32 epilogue=bias+dequant+bias"), HasSubstr("has 'bias' twice"));
  EXPECT_THAT(error("a=u8 c=f32 epilogue=dequant+residual+residual(u8)"), HasSubstr("'residual(u8)' twice"));
  EXPECT_THAT(error("a=u8 c=u8 epilogue=dequant+swiglu+quant"), HasSubstr("'quant' behind swiglu"));
  EXPECT_THAT(error("a=u8 c=f32 epilogue=dequant+quant"), HasSubstr("makes an output of u8 or s8, not f32"));
  EXPECT_THAT(error("a=u8 c=u8 epilogue=dequant"), HasSubstr("makes an output of f32, not u8"));
  EXPECT_THAT(error("a=u8 c=s32 epilogue=relu"), HasSubstr("that are floating-point numbers, not s32"));
  EXPECT_THAT(error("a=u8 c=s32 epilogue=bias+relu"), HasSubstr("floating-point numbers, not s32"));
  EXPECT_THAT(error("a=u8 c=f32 epilogue=dequant+residual(f16)"),
              HasSubstr("'residual(f16)' in an epilogue is of no type that it can be of; write residual, "
                        "residual(bf16), residual(u8), residual(s8)"));
  EXPECT_THAT(error("a=u8 c=s32 zero=output"),
              HasSubstr("unknown zero point 'output'; known are none, input"));
  EXPECT_THAT(message_of("gemm m=1 n=1 k=1 zero=input"),
              HasSubstr("zero=input is for operands of u8 and s8; with f32 leave it at none"));
  EXPECT_THAT(message_of("gemm m=1 n=1 k=1 a=u8 b=s8 zero=input"), HasSubstr("is for sums in s32; with f32"));
  EXPECT_THAT(message_of("gemm m=1 n=1 k=1 epilogue=dequant"), HasSubstr("needs sums in s32, not f32"));
}

std::string tensors_text(const std::string& workload) {
  std::string text;
  for (const TensorSpec& tensor : tensors_of(parse_workload(workload)))
    text += fmt::format(" {}:{}[{}]", tensor.name, name_of(tensor.type), tensor.elements);
  return text;
}

TEST(IntegerOperands, HaveTheirOwnTypes) {
  EXPECT_EQ(tensors_text(product("a=u8 c=s32 epilogue=bias zero=input")),
            " a:u8[35] b:s8[42] c:s32[30] a_zero:u8[1] bias:s32[6]");
  EXPECT_EQ(tensors_text(product("a=u8 c=s8 epilogue=bias+dequant+residual(u8)+quant zero=input")),
            " a:u8[35] b:s8[42] c:s8[30] a_zero:u8[1] bias:s32[6] dequant_scale:f32[6] residual:u8[30] "
            "residual_scale:f32[1] residual_zero:u8[1] quant_scale:f32[1] quant_zero:s8[1]");
  EXPECT_EQ(tensors_text(product("a=s8 c=u8 epilogue=dequant+scale_shift+bias+residual(bf16)+quant")),
            " a:s8[35] b:s8[42] c:u8[30] dequant_scale:f32[6] scale:f32[6] shift:f32[6] bias:f32[6] "
            "residual:bf16[30] quant_scale:f32[1] quant_zero:u8[1]");
  EXPECT_EQ(tensors_text("conv2d h=8 w=8 c=2 k=3 r=1 s=1 x=s8 f=s8 y=s8 accum=s32 zero=input "
                         "epilogue=dequant+bias+maxpool(2)+quant"),
            " x:s8[128] f:s8[6] y:s8[48] x_zero:s8[1] dequant_scale:f32[3] bias:f32[3] quant_scale:f32[1] "
            "quant_zero:s8[1]");
  EXPECT_EQ(tensors_text("gemm m=2 n=2 k=2 a=f16 b=f16 c=bf16 epilogue=bias+residual"),
            " a:f16[4] b:f16[4] c:bf16[4] bias:bf16[2] residual:bf16[4]");
}

/// A float that is rounded to f32 each time it is written, whatever the compiler contracts.
using Rounded = volatile float;

/// The steps of an epilogue, one after the other, as a kernel has them.
class Written {
 public:
  Written(const Workload& workload, const Tensors& inputs)
      : workload_(workload), inputs_(inputs), specs_(tensors_of(workload)) {}

  float of(const std::string& name, std::int64_t index) const {
    for (std::size_t i = 0; i < specs_.size(); ++i)
      if (specs_[i].name == name)
        return inputs_[i][static_cast<std::size_t>(specs_[i].elements == 1 ? 0 : index)];
    ADD_FAILURE() << "no tensor " << name;
    return 0;
  }
  bool has(const std::string& name) const { return std::ranges::count(specs_, name, &TensorSpec::name) > 0; }

  /// Returns the value up to a pool or a quant.
  float value(std::int64_t sum, std::int64_t channel, std::int64_t element) const {
    Rounded x = static_cast<float>(sum);
    bool dequantized = false;
    for (const EpilogueStep& step : workload_.epilogue.steps) {
      const float n0 = step.numbers[0], n1 = step.numbers[1];
      if (step.op == EpilogueOp::kDequant) {
        x = x * of("dequant_scale", channel);
        dequantized = true;
      }
      if (step.op == EpilogueOp::kBias && dequantized) x = x + of("bias", channel);
      if (step.op == EpilogueOp::kBias && !dequantized)
        x = static_cast<float>(sum + static_cast<std::int64_t>(of("bias", channel)));
      if (step.op == EpilogueOp::kRelu) x = std::max(0.0F, static_cast<float>(x));
      if (step.op == EpilogueOp::kClamp) x = std::min(n1, std::max(n0, static_cast<float>(x)));
      if (step.op == EpilogueOp::kLeakyRelu && x < 0) x = x * n0;
      if (step.op == EpilogueOp::kResidual) x = x + of("residual", element);
      if (step.op == EpilogueOp::kQuantizedResidual) {
        Rounded part = (of("residual", element) - of("residual_zero", 0)) * of("residual_scale", 0);
        x = x + part;
      }
    }
    return x;
  }
  float stored(float value) const {
    if (!has("quant_zero")) return value;
    Rounded scaled = value * of("quant_scale", 0);
    const double least = specs_[2].type == DType::kU8 ? 0 : -128;
    return static_cast<float>(
        std::clamp(std::nearbyint(static_cast<double>(scaled)) + of("quant_zero", 0), least, least + 255));
  }

 private:
  const Workload& workload_;
  const Tensors& inputs_;
  std::vector<TensorSpec> specs_;
};

/// Returns every element of a product.
std::vector<float> written_product(const Workload& workload, const Tensors& in) {
  const Gemm& g = workload.gemm();
  const Written written(workload, in);
  const auto zero = static_cast<std::int64_t>(written.has("a_zero") ? written.of("a_zero", 0) : 0);
  std::vector<float> out(static_cast<std::size_t>(g.batch * g.m * g.n));
  for (std::int64_t batch = 0; batch < g.batch; ++batch)
    for (std::int64_t i = 0; i < g.m; ++i)
      for (std::int64_t j = 0; j < g.n; ++j) {
        std::int64_t sum = 0;
        for (std::int64_t p = 0; p < g.k; ++p) {
          const std::int64_t a = g.a.layout == Layout::kRow ? i * g.k + p : p * g.m + i;
          const std::int64_t b = g.b.layout == Layout::kRow ? p * g.n + j : j * g.k + p;
          sum += (static_cast<std::int64_t>(in[0][static_cast<std::size_t>(batch * g.m * g.k + a)]) - zero) *
                 static_cast<std::int64_t>(in[1][static_cast<std::size_t>(batch * g.k * g.n + b)]);
        }
        const std::int64_t at = batch * g.m * g.n + (g.c.layout == Layout::kRow ? i * g.n + j : j * g.m + i);
        out[static_cast<std::size_t>(at)] = written.stored(written.value(sum, j, at));
      }
  return out;
}

/// Returns every element of a convolution. In the padding the zero point is read, and taken away again.
std::vector<float> written_convolution(const Workload& workload, const Tensors& in) {
  const Conv2d& c = workload.conv2d();
  const Written written(workload, in);
  const bool nchw = c.layout == ImageLayout::kNchw;
  const auto zero = static_cast<std::int64_t>(written.has("x_zero") ? written.of("x_zero", 0) : 0);
  const std::int64_t of_group = c.c / c.groups, oh = c.out_h(), ow = c.out_w();
  const auto at = [&](std::int64_t n, std::int64_t k, std::int64_t y, std::int64_t x, std::int64_t channels,
                      std::int64_t h, std::int64_t w) {
    return nchw ? ((n * channels + k) * h + y) * w + x : ((n * h + y) * w + x) * channels + k;
  };
  const PoolWindows pool = windows_of(workload.epilogue);
  const std::int64_t h = pool.over(oh), w = pool.over(ow);
  const auto pixel = [&](std::int64_t n, std::int64_t k, std::int64_t y, std::int64_t x,
                         std::int64_t element) {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < of_group * c.r * c.s; ++i) {
      const std::int64_t channel = i / (c.r * c.s), r = i / c.s % c.r, s = i % c.s;
      const std::int64_t iy = y * c.stride_h + r * c.dilation_h - c.pad_top;
      const std::int64_t ix = x * c.stride_w + s * c.dilation_w - c.pad_left;
      const bool inside = iy >= 0 && iy < c.h && ix >= 0 && ix < c.w;
      const std::int64_t from = k / (c.k / c.groups) * of_group + channel;
      const std::int64_t value =
          inside
              ? static_cast<std::int64_t>(in[0][static_cast<std::size_t>(at(n, from, iy, ix, c.c, c.h, c.w))])
              : zero;
      const std::int64_t weight = nchw ? ((k * of_group + channel) * c.r + r) * c.s + s
                                       : ((k * c.r + r) * c.s + s) * of_group + channel;
      sum += (value - zero) * static_cast<std::int64_t>(in[1][static_cast<std::size_t>(weight)]);
    }
    return written.value(sum, k, element);
  };
  std::vector<float> out(static_cast<std::size_t>(c.n * c.k * h * w));
  for (std::int64_t n = 0; n < c.n; ++n)
    for (std::int64_t k = 0; k < c.k; ++k)
      for (std::int64_t y = 0; y < h; ++y)
        for (std::int64_t x = 0; x < w; ++x) {
          const std::int64_t element = at(n, k, y, x, c.k, h, w);
          float largest = -INFINITY;
          for (std::int64_t i = 0; i < pool.window * pool.window; ++i) {
            const std::int64_t py = y * pool.stride - pool.before + i / pool.window;
            const std::int64_t px = x * pool.stride - pool.before + i % pool.window;
            if (py < 0 || py >= oh || px < 0 || px >= ow) continue;
            largest = std::max(largest, pixel(n, k, py, px, element));
          }
          out[static_cast<std::size_t>(element)] = written.stored(largest);
        }
  return out;
}

constexpr const char* kExact[] = {"none",
                                  "bias",
                                  "dequant",
                                  "bias+dequant",
                                  "dequant+bias+relu",
                                  "dequant+residual+leaky_relu(0.1)",
                                  "dequant+residual(u8)+relu",
                                  "dequant+residual(s8)+bias",
                                  "dequant+quant",
                                  "bias+dequant+relu+quant",
                                  "dequant+bias+clamp(-1,3)+quant",
                                  "dequant+bias+residual(u8)+relu+quant",
                                  "dequant+leaky_relu(0.3)+residual(s8)+quant",
                                  "dequant+residual(bf16)+quant"};

template <typename Choice>
const auto& one_of(Rng& rng, const Choice& choices) {
  return choices[rng.below(std::size(choices))];
}

std::string output_of(const std::string& epilogue, Rng& rng) {
  if (epilogue == "none" || epilogue == "bias") return "s32";
  return epilogue.ends_with("quant") && !epilogue.ends_with("dequant") ? rng.below(2) == 0 ? "u8" : "s8"
                                                                       : "f32";
}

std::string random_types(Rng& rng, const char* first, const char* second, const char* output,
                         const std::string& epilogue) {
  return fmt::format(" {}={} {}=s8 {}={} accum=s32 epilogue={} zero={}", first,
                     rng.below(2) == 0 ? "u8" : "s8", second, output, output_of(epilogue, rng), epilogue,
                     rng.below(2) == 0 ? "none" : "input");
}

TEST(IntegerReference, IsTheProductWrittenOutBitForBit) {
  const std::uint64_t seed = lehr::testing::test_seed(1);
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Rng rng(seed);
  for (int i = 0; i < 150; ++i) {
    const auto extent = [&](std::uint64_t most) { return 1 + rng.below(most); };
    const std::string text =
        fmt::format("gemm m={} n={} k={} batch={}", extent(9), extent(9), extent(90), extent(2)) +
        random_types(rng, "a", "b", "c", one_of(rng, kExact));
    Workload workload = parse_workload(text);
    for (Operand* operand : {&workload.gemm().a, &workload.gemm().b, &workload.gemm().c})
      operand->layout = rng.below(2) == 0 ? Layout::kRow : Layout::kColumn;
    const Tensors inputs = make_inputs(workload, rng.next());
    const Reference reference = make_reference(workload, inputs);
    EXPECT_EQ(reference.tolerance, 0) << text;
    EXPECT_EQ(reference.values, written_product(workload, inputs)) << text;
  }
}

TEST(IntegerReference, IsTheConvolutionWrittenOutBitForBit) {
  const std::uint64_t seed = lehr::testing::test_seed(1);
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Rng rng(seed);
  for (int i = 0; i < 100; ++i) {
    std::string epilogue = one_of(rng, kExact);
    const std::uint64_t groups = 1 + rng.below(2), filter = 1 + rng.below(3);
    const std::string shape =
        fmt::format("conv2d n={} h={} w={} c={} k={} r={} s={} groups={} pad=1x0x2x1 stride=1x2 layout={}",
                    1 + rng.below(2), 6 + rng.below(4), 6 + rng.below(4), groups * (1 + rng.below(4)),
                    groups * (1 + rng.below(3)), filter, filter, groups, rng.below(2) == 0 ? "nchw" : "nhwc");
    if (epilogue.ends_with("relu+quant") && epilogue.find("residual") == std::string::npos)
      epilogue.replace(epilogue.size() - 5, 5,
                       rng.below(2) == 0 ? "maxpool(3,2,1)+quant" : "maxpool(2)+quant");
    const std::string text = shape + random_types(rng, "x", "f", "y", epilogue);
    const Workload workload = parse_workload(text);
    const Tensors inputs = make_inputs(workload, rng.next());
    const Reference reference = make_reference(workload, inputs);
    EXPECT_EQ(reference.tolerance, 0) << text;
    EXPECT_EQ(reference.values, written_convolution(workload, inputs)) << text;
  }
}

TEST(IntegerReference, OfOneElementIsThatOfAll) {
  const std::uint64_t seed = lehr::testing::test_seed(1);
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Rng rng(seed);
  for (int i = 0; i < 40; ++i) {
    const std::string epilogue = i % 4 == 0 ? "dequant+bias+gelu_erf+quant" : one_of(rng, kExact);
    const Workload workload =
        parse_workload(rng.below(2) == 0 ? "gemm m=9 n=11 k=33" + random_types(rng, "a", "b", "c", epilogue)
                                         : "conv2d h=7 w=6 c=4 k=6 r=3 s=3 pad=1" +
                                               random_types(rng, "x", "f", "y", epilogue));
    const std::uint64_t of_inputs = rng.next();
    const Reference all = make_reference(workload, make_inputs(workload, of_inputs));
    const std::vector<std::int64_t> indices = telling_elements(workload, 0, 1'000'000);
    const std::vector<float> values = reference_at(workload, of_inputs, 0, indices);
    for (std::size_t at = 0; at < indices.size(); ++at)
      ASSERT_EQ(values[at], all.values[static_cast<std::size_t>(indices[at])]) << to_text(workload);
  }
}

// The longest sums that are checked in f32.
TEST(IntegerReference, IsExactInLongSums) {
  for (const std::int64_t k : {16384, 200000}) {
    const Workload workload = parse_workload(
        fmt::format("gemm m=3 n=4 k={} a=u8 b=s8 c=s32 accum=s32 epilogue=bias zero=input", k));
    const Tensors inputs = make_inputs(workload, 5);
    EXPECT_EQ(make_reference(workload, inputs).values, written_product(workload, inputs)) << k;
    for (const float value : written_product(workload, inputs)) EXPECT_LT(std::abs(value), 0x1p24F);
  }
}

float quantized(DType output, double x, float scale, float zero, const char* before = "dequant+quant") {
  const Epilogue epilogue = parse_epilogue(before);
  const Tensors operands = {{1}, {scale}, {zero}};
  return reference_stored(output,
                          reference_value(epilogue, x, std::span<const std::vector<float>>(operands), 0, 0));
}

TEST(Quant, RoundsHalfToEvenBeforeTheZeroPointAndSaturates) {
  EXPECT_EQ(quantized(DType::kU8, 5, 0.5F, 0), 2);     // 2.5
  EXPECT_EQ(quantized(DType::kU8, 7, 0.5F, 0), 4);     // 3.5
  EXPECT_EQ(quantized(DType::kU8, 5, 0.5F, 1), 3);     // not 2.5 + 1, which is 4 to even
  EXPECT_EQ(quantized(DType::kS8, -5, 0.5F, -3), -5);  // -2.5
  EXPECT_EQ(quantized(DType::kU8, -1, 0.5F, 0), 0);
  EXPECT_EQ(quantized(DType::kU8, 254, 1, 1), 255);
  EXPECT_EQ(quantized(DType::kU8, 255, 1, 1), 255);
  EXPECT_EQ(quantized(DType::kU8, -300, 1, 255), 0);
  EXPECT_EQ(quantized(DType::kS8, 127, 1, 0), 127);
  EXPECT_EQ(quantized(DType::kS8, 128, 1, 0), 127);
  EXPECT_EQ(quantized(DType::kS8, -129, 1, 0), -128);
  EXPECT_EQ(quantized(DType::kS8, 255, 1, -128), 127);
  EXPECT_EQ(quantized(DType::kU8, 3e9, 3e38F, 7), 255);    // infinite in f32
  EXPECT_EQ(quantized(DType::kS8, 0, INFINITY, 7), -128);  // not a number
  EXPECT_EQ(quantized(DType::kU8, NAN, 1, 7), 0);
  // 2^24 + 1 is no float: it becomes 2^24.
  EXPECT_EQ(quantized(DType::kU8, 16777217, 0x1p-20F, 0), 16);
}

TEST(Quant, BehindASmoothStepDoesNotRound) {
  EXPECT_EQ(quantized(DType::kU8, 5, 0.5F, 1, "dequant+hard_swish+quant"), 3.5F);
  EXPECT_EQ(quantized(DType::kU8, 600, 0.5F, 1, "dequant+hard_swish+quant"), 255);
}

TEST(Quant, MayBeAUnitOffBehindASmoothStepBesideABorderAlone) {
  for (const char* epilogue : {"dequant+gelu_erf+quant", "dequant+bias+silu+residual(u8)+quant",
                               "dequant+scale_shift+tanh+quant", "dequant+hard_swish+quant"}) {
    const Workload workload =
        parse_workload(fmt::format("gemm m=64 n=64 k=512 a=u8 b=s8 c=u8 accum=s32 epilogue={}", epilogue));
    const double tolerance = make_reference(workload, make_inputs(workload, 3)).tolerance;
    EXPECT_GT(tolerance, 1e-5) << epilogue;
    EXPECT_LT(tolerance, 0.1) << epilogue;
  }
}

TEST(IntegerInputs, ReachTheEndsOfTheirTypesAndOfTheOutputs) {
  const Workload workload = parse_workload(
      "gemm m=200 n=200 k=100 a=u8 b=s8 c=u8 accum=s32 epilogue=bias+dequant+residual(s8)+quant zero=input");
  std::set<float> zeros;
  for (std::uint64_t seed = 1; seed < 40; ++seed) zeros.insert(make_inputs(workload, seed)[3][0]);
  EXPECT_GE(zeros.size(), 6U);
  EXPECT_TRUE(zeros.contains(0) && zeros.contains(255));
  const Tensors inputs = make_inputs(workload, 7);
  EXPECT_EQ(std::set(inputs[0].begin(), inputs[0].end()).size(), 256U);
  EXPECT_EQ(std::set(inputs[1].begin(), inputs[1].end()).size(), 256U);
  const std::vector<float> scales = inputs[5];
  EXPECT_GT(*std::ranges::min_element(scales), 0);
  EXPECT_GT(*std::ranges::max_element(scales), 1.5F * *std::ranges::min_element(scales));
}

// For every length, type and zero point some elements saturate at one end or the other, and most do not.
TEST(IntegerInputs, SpreadOverTheOutput) {
  for (const char* type : {"u8", "s8"})
    for (const char* zero : {"none", "input"})
      for (const int k : {1, 9, 64, 1000, 30000}) {
        const Workload workload =
            parse_workload(fmt::format("gemm m=40 n=40 k={} a={} b=s8 c=s8 accum=s32 "
                                       "epilogue=bias+dequant+quant zero={}",
                                       k, type, zero));
        double low = 0, high = 0, between = 0;
        std::set<float> met;
        for (std::uint64_t seed = 1; seed <= 8; ++seed)
          for (const float value : make_reference(workload, make_inputs(workload, seed)).values) {
            (value == -128 ? low : value == 127 ? high : between) += 1;
            met.insert(value);
          }
        const std::string which =
            fmt::format("{} {} {}: {} low, {} high, {} between", type, zero, k, low, high, between);
        EXPECT_GT(low, 0) << which;
        EXPECT_GT(high, 0) << which;
        EXPECT_GT(between, low + high) << which;
        EXPECT_GT(met.size(), 200U) << which;
      }
}

TEST(IntegerInputs, StayAsTheyWereForPlainProductsOfS8) {
  for (const TensorSpec& tensor : tensors_of(parse_workload("gemm m=2 n=2 k=2 a=s8 b=s8 c=s32 accum=s32")))
    EXPECT_EQ(tensor.draw, usual_draw(tensor.type)) << tensor.name;
  EXPECT_EQ(usual_draw(DType::kS8), (Draw{.deviation = 25}));
}

}  // namespace
}  // namespace lehr
