#include "tests/support/make_reference.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "base/rng.h"
#include "base/small_float.h"
#include "tests/support/ordinary.h"
#include "tests/support/seed.h"
#include "workload/operator.h"

namespace lehr {
namespace {

// Returns an element by the definition.
double defined(const Workload& w, const std::vector<std::vector<float>>& in, std::int64_t batch,
               std::int64_t i, std::int64_t j) {
  const Gemm& g = w.gemm();
  double sum = 0;
  for (std::int64_t p = 0; p < g.k; ++p) {
    const std::int64_t a = g.a.layout == Layout::kRow ? i * g.k + p : p * g.m + i;
    const std::int64_t b = g.b.layout == Layout::kRow ? p * g.n + j : j * g.k + p;
    sum += static_cast<double>(in[0][static_cast<std::size_t>(batch * g.m * g.k + a)]) *
           in[1][static_cast<std::size_t>(batch * g.k * g.n + b)];
  }
  return sum;
}

TEST(Reference, IsTheDefinitionInEveryLayout) {
  for (int layout = 0; layout < 8; ++layout) {
    const auto word = [&](int bit) { return (layout >> bit) & 1 ? "f32:column" : "f32:row"; };
    const Workload w =
        parse_workload(fmt::format("gemm m=5 n=7 k=19 batch=2 a={} b={} c={}", word(0), word(1), word(2)));
    const auto inputs = make_inputs(w, 3);
    const Reference reference = make_reference(w, inputs);
    ASSERT_TRUE(reference.indices.empty());
    ASSERT_EQ(reference.values.size(), 70u);
    for (std::int64_t batch = 0; batch < 2; ++batch) {
      for (std::int64_t i = 0; i < 5; ++i) {
        for (std::int64_t j = 0; j < 7; ++j) {
          const std::int64_t at = batch * 35 + ((layout >> 2) & 1 ? j * 5 + i : i * 7 + j);
          EXPECT_NEAR(reference.values[static_cast<std::size_t>(at)], defined(w, inputs, batch, i, j), 1e-5);
        }
      }
    }
  }
}

TEST(Reference, ScalesSumsBeforeTheEpilogueAndItsToleranceWithThem) {
  const std::string product = "gemm m=5 n=6 k=19 batch=2";
  for (const char* epilogue : {"none", "bias+relu", "swiglu"}) {
    for (const double alpha : {0.25, -3.0, 0.1}) {
      const Workload plain = parse_workload(product + " epilogue=" + epilogue);
      Workload scaled = plain;
      scaled.gemm().alpha = static_cast<float>(alpha);
      auto inputs = make_inputs(plain, 3);
      const Reference found = make_reference(scaled, inputs);
      for (float& a : inputs[0]) a *= scaled.gemm().alpha;  // rounds once
      const Reference expected = make_reference(plain, inputs);
      ASSERT_EQ(found.values.size(), expected.values.size());
      for (std::size_t i = 0; i < found.values.size(); ++i)
        EXPECT_NEAR(found.values[i], expected.values[i], 2e-5) << epilogue << " " << alpha << " " << i;
    }
  }
  const double plain =
      make_reference(parse_workload(product), make_inputs(parse_workload(product), 3)).tolerance;
  for (const double alpha : {1e-20, -0.5, 1e20}) {
    const Workload scaled = parse_workload(fmt::format("{} alpha={}", product, alpha));
    const double tolerance = make_reference(scaled, make_inputs(scaled, 3)).tolerance / std::abs(alpha);
    EXPECT_GT(tolerance, plain);
    EXPECT_LT(tolerance, 2 * plain);  // and one rounding more
  }
}

// A convolution, element by element, in both layouts, from the sentence in conv2d.h.
TEST(Reference, OfAConvolutionIsTheDefinition) {
  for (const char* layout : {"nchw", "nhwc"}) {
    const Workload w = parse_workload(fmt::format(
        "conv2d n=2 h=6 w=7 c=6 k=4 r=3 s=2 stride=2x1 pad=1x0x2x1 dilation=1x2 groups=2 layout={}", layout));
    const Conv2d& conv = w.conv2d();
    const bool nchw = conv.layout == ImageLayout::kNchw;
    const auto inputs = make_inputs(w, 3);
    const Reference reference = make_reference(w, inputs);
    const std::int64_t oh = conv.out_h(), ow = conv.out_w();
    ASSERT_EQ(oh, 3);
    ASSERT_EQ(ow, 8);
    ASSERT_EQ(reference.values.size(), static_cast<std::size_t>(2 * 4 * oh * ow));
    const auto at = [&](std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x, std::int64_t channels,
                        std::int64_t height, std::int64_t width) {
      return static_cast<std::size_t>(nchw ? ((n * channels + c) * height + y) * width + x
                                           : ((n * height + y) * width + x) * channels + c);
    };
    for (std::int64_t n = 0; n < 2; ++n)
      for (std::int64_t k = 0; k < 4; ++k)
        for (std::int64_t y = 0; y < oh; ++y)
          for (std::int64_t x = 0; x < ow; ++x) {
            double sum = 0;
            for (std::int64_t c = 0; c < 3; ++c)
              for (std::int64_t r = 0; r < 3; ++r)
                for (std::int64_t s = 0; s < 2; ++s) {
                  const std::int64_t iy = y * 2 + r - 1, ix = x + s * 2 - 2;
                  if (iy < 0 || iy >= 6 || ix < 0 || ix >= 7) continue;
                  sum += static_cast<double>(inputs[0][at(n, k / 2 * 3 + c, iy, ix, 6, 6, 7)]) *
                         inputs[1][at(k, c, r, s, 3, 3, 2)];
                }
            EXPECT_NEAR(reference.values[at(n, k, y, x, 4, oh, ow)], sum, 1e-5) << n << k << y << x;
          }
    const Reference some = make_reference(w, inputs, flops_of(w) / 4);
    ASSERT_FALSE(some.indices.empty());
    for (std::size_t i = 0; i < some.indices.size(); ++i)
      EXPECT_EQ(some.values[i], reference.values[static_cast<std::size_t>(some.indices[i])]);
  }
}

// Rows and columns that fill no window are left out.
TEST(Reference, OfAPooledConvolutionIsOneOfEachWindow) {
  for (const char* layout : {"nchw", "nhwc"}) {
    const std::string text =
        fmt::format("conv2d n=2 h=7 w=10 c=3 k=4 r=1 s=1 layout={} epilogue=bias", layout);
    const Workload plain = parse_workload(text), pooled = parse_workload(text + "+maxpool(3)");
    const auto inputs = make_inputs(plain, 3);
    const Reference before = make_reference(plain, inputs), after = make_reference(pooled, inputs);
    ASSERT_EQ(after.values.size(), 2U * 4 * 2 * 3);
    ASSERT_EQ(tensors_of(pooled)[2].elements, 2 * 4 * 2 * 3);
    const auto at = [&](std::int64_t n, std::int64_t k, std::int64_t y, std::int64_t x, std::int64_t h,
                        std::int64_t w) {
      const bool nchw = plain.conv2d().layout == ImageLayout::kNchw;
      return static_cast<std::size_t>(nchw ? ((n * 4 + k) * h + y) * w + x : ((n * h + y) * w + x) * 4 + k);
    };
    for (std::int64_t n = 0; n < 2; ++n)
      for (std::int64_t k = 0; k < 4; ++k)
        for (std::int64_t y = 0; y < 2; ++y)
          for (std::int64_t x = 0; x < 3; ++x) {
            float largest = -std::numeric_limits<float>::infinity();
            for (std::int64_t i = 0; i < 9; ++i)
              largest = std::max(largest, before.values[at(n, k, y * 3 + i / 3, x * 3 + i % 3, 7, 10)]);
            EXPECT_EQ(after.values[at(n, k, y, x, 2, 3)], largest);
          }
  }
}

TEST(Workload, IsCroppedToWhatAPoolTakes) {
  for (const char* text : {"conv2d h=11 w=14 c=1 k=1 r=3 s=2 stride=2x1 pad=1 epilogue=maxpool(4)",
                           "conv2d h=12 w=13 c=1 k=1 r=1 s=1 stride=3 epilogue=avgpool(2)"}) {
    const Workload w = parse_workload(text);
    const Conv2d conv = pooled_part(w.conv2d(), w.epilogue);
    const ImageSize size = output_size(w.conv2d(), w.epilogue);
    EXPECT_EQ(conv.out_h(), size.height * window_of(w.epilogue)) << text;
    EXPECT_EQ(conv.out_w(), size.width * window_of(w.epilogue)) << text;
  }
}

TEST(Reference, OfALargeProblemHoldsWholeRowsWithBothEnds) {
  const Workload w = parse_workload("gemm m=200 n=30 k=40");
  const auto inputs = make_inputs(w, 3);
  const Reference full = make_reference(w, inputs);
  const Reference some = make_reference(w, inputs, flops_of(w) / 10);
  ASSERT_FALSE(some.indices.empty());
  EXPECT_EQ(some.indices.front(), 0);
  EXPECT_EQ(some.indices.back(), 200 * 30 - 1);
  EXPECT_GE(some.indices.size(), 20u * 30u);
  EXPECT_LE(some.indices.size(), 25u * 30u);
  for (std::size_t i = 0; i < some.indices.size(); ++i) {
    EXPECT_EQ(some.values[i], full.values[static_cast<std::size_t>(some.indices[i])]);
  }
}

TEST(Reference, ToleranceFitsFloatSumsAndCatchesAMissingProduct) {
  Rng rng(5);
  for (const std::int64_t k : {1, 3, 64, 1000, 20000}) {
    const Workload w = parse_workload(fmt::format("gemm m=4 n=8 k={}", k));
    const auto inputs = make_inputs(w, rng.next());
    const Reference reference = make_reference(w, inputs);
    double missing_found = 0;
    for (std::int64_t i = 0; i < 4; ++i) {
      for (std::int64_t j = 0; j < 8; ++j) {
        float sum = 0;  // the worst order: one chain in single precision
        for (std::int64_t p = 0; p < k; ++p) {
          sum +=
              inputs[0][static_cast<std::size_t>(i * k + p)] * inputs[1][static_cast<std::size_t>(p * 8 + j)];
        }
        const float want = reference.values[static_cast<std::size_t>(i * 8 + j)];
        EXPECT_LE(std::abs(sum - want), reference.tolerance) << "k=" << k;
        const float last = inputs[0][static_cast<std::size_t>(i * k + k - 1)] *
                           inputs[1][static_cast<std::size_t>((k - 1) * 8 + j)];
        if (std::abs(sum - last - want) > reference.tolerance) ++missing_found;
      }
    }
    EXPECT_GE(missing_found, 24) << "k=" << k;
  }
}

TEST(Reference, ToleranceOfTf32FitsRoundedOperandsAndThatOfStrictDoesNot) {
  const auto tf32 = [](float x) {  // 10 fraction bits, ties away from zero
    return std::bit_cast<float>((std::bit_cast<std::uint32_t>(x) + 0x1000) & ~0x1FFFU);
  };
  for (const std::int64_t k : {1, 64, 4000}) {
    const Workload strict = parse_workload(fmt::format("gemm m=4 n=8 k={}", k));
    const Workload permitted = parse_workload(to_text(strict) + " math=tf32");
    const Workload three = parse_workload(to_text(strict) + " math=3xtf32");
    const auto inputs = make_inputs(strict, 9);
    const Reference reference = make_reference(permitted, inputs);
    double worst = 0;
    double worst_of_three = 0;
    for (std::int64_t i = 0; i < 4; ++i) {
      for (std::int64_t j = 0; j < 8; ++j) {
        double sum = 0;
        double sum_of_three = 0;
        for (std::int64_t p = 0; p < k; ++p) {
          const float a = inputs[0][static_cast<std::size_t>(i * k + p)];
          const float b = inputs[1][static_cast<std::size_t>(p * 8 + j)];
          const float high_a = tf32(a), high_b = tf32(b);
          const float low_a = tf32(a - high_a), low_b = tf32(b - high_b);
          sum += static_cast<double>(high_a) * high_b;
          sum_of_three += static_cast<double>(high_a) * high_b + static_cast<double>(low_a) * high_b +
                          static_cast<double>(high_a) * low_b;
        }
        const double want = reference.values[static_cast<std::size_t>(i * 8 + j)];
        worst = std::max(worst, std::abs(sum - want));
        worst_of_three = std::max(worst_of_three, std::abs(sum_of_three - want));
      }
    }
    EXPECT_LE(worst, reference.tolerance) << "k=" << k;
    EXPECT_GT(worst, make_reference(strict, inputs).tolerance) << "k=" << k;
    EXPECT_GT(worst, make_reference(three, inputs).tolerance) << "k=" << k;
    EXPECT_LE(worst_of_three, make_reference(three, inputs).tolerance) << "k=" << k;
  }
}

TEST(Reference, AllowsAConvolutionWhatItAllowsTheProductThatItIs) {
  for (const char* math : {"strict", "tf32", "3xtf32"}) {
    const Workload conv = parse_workload(fmt::format("conv2d h=3 w=4 c=7 k=2 r=2 s=3 math={}", math));
    const Workload product = parse_workload(fmt::format("gemm m=4 n=2 k=42 math={}", math));
    EXPECT_EQ(make_reference(conv, make_inputs(conv, 1)).tolerance,
              make_reference(product, make_inputs(product, 1)).tolerance)
        << math;
  }
}

/// Returns workloads of every operator, layout and step, of sizes that no tile divides.
std::vector<Workload> assorted(Rng& rng) {
  std::vector<Workload> workloads;
  for (const char* text :
       {"gemm m=70 n=90 k=33 batch=3 a=bf16:column b=f16:row c=f32:column epilogue=bias+gelu_erf",
        "gemm m=1 n=300 k=500", "gemm m=200 n=100 k=64 alpha=0.125 c=bf16:row epilogue=swiglu",
        "gemm m=129 n=65 k=48 a=s8:row b=s8:column c=s32:row accum=s32",
        "gemm m=64 n=70 k=20 epilogue=scale_shift+residual+clamp(-1,6)",
        "conv2d n=2 h=19 w=23 c=12 k=20 r=3 s=3 stride=2x1 pad=1x0x2x1 groups=4 epilogue=bias+relu",
        "conv2d n=3 h=30 w=31 c=8 k=24 r=5 s=1 dilation=2x1 layout=nhwc x=f16 f=f16 y=f16 "
        "epilogue=maxpool(3,2)",
        "conv2d n=1 h=40 w=40 c=32 k=32 r=3 s=3 groups=32 layout=nhwc epilogue=silu+avgpool(2)"})
    workloads.push_back(parse_workload(text));
  for (int i = 0; i < 30; ++i)
    workloads.push_back(testing::ordinary_workload(rng, {.most_flops = 2e7, .most_bytes = 4e6}));
  for (const DType type : {DType::kBF16, DType::kU8, DType::kS8})
    for (int i = 0; i < 6; ++i)
      workloads.push_back(
          testing::ordinary_workload(rng, {.type = type, .most_flops = 2e7, .most_bytes = 4e6}));
  return workloads;
}

TEST(ReferenceAt, IsTheReferenceElementByElement) {
  const std::uint64_t seed = lehr::testing::test_seed(1);
  Rng rng(seed);
  for (const Workload& workload : assorted(rng)) {
    const auto inputs = make_inputs(workload, seed, 2);
    const Reference all = make_reference(workload, inputs, 1e18);
    const std::vector<std::int64_t> indices = telling_elements(workload, 0, 1'000'000);
    const std::vector<float> values = reference_at(workload, seed, 0, indices, 2);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const float wanted = all.values[static_cast<std::size_t>(indices[i])];
      ASSERT_NEAR(values[i], wanted, 1e-6 * std::abs(wanted) + 1e-9) << to_text(workload) << " seed " << seed;
    }
  }
}

TEST(ReferenceAt, IsToldOfElementsAtEveryEdgeOrManyOfThem) {
  const std::uint64_t seed = lehr::testing::test_seed(1);
  Rng rng(seed);
  for (const Workload& workload : assorted(rng)) {
    const std::vector<Dimension> shape = output_shape(workload);
    std::int64_t elements = 1;
    for (const Dimension& each : shape) elements *= each.size;
    const std::vector<std::int64_t> indices = telling_elements(workload, 0, 1'000'000'000);
    ASSERT_TRUE(std::ranges::is_sorted(indices, std::less_equal()));
    ASSERT_GE(indices[0], 0);
    ASSERT_LT(indices.back(), elements);
    EXPECT_EQ(indices.size() < static_cast<std::size_t>(elements), elements > 4096) << to_text(workload);
    EXPECT_LE(indices.size(), 4200U);
    for (const Dimension& each : shape) {
      std::set<std::int64_t> met;
      for (const std::int64_t index : indices) met.insert(index / each.stride % each.size);
      EXPECT_TRUE(met.contains(0) && met.contains(each.size - 1)) << to_text(workload) << " seed " << seed;
      if (each.size > 4000) continue;  // some are left out
      for (std::int64_t at = 16; at < each.size; at += 16)
        EXPECT_TRUE(met.contains(at - 1) && met.contains(at))
            << at << " of " << to_text(workload) << " seed " << seed;
    }
  }
}

TEST(ReferenceAt, IsToldOfBothSidesOfEachGroup) {
  for (const char* const layout : {"nchw", "nhwc"}) {
    const Workload workload = parse_workload(
        fmt::format("conv2d n=4 h=56 w=56 c=300 k=900 r=3 s=3 pad=1 groups=150 layout={}", layout));
    std::set<std::int64_t> met;
    const std::int64_t between = workload.conv2d().layout == ImageLayout::kNchw ? 56 * 56 : 1;
    for (const std::int64_t index : telling_elements(workload, 0, 1'000'000'000))
      met.insert(index / between % 900);
    for (std::int64_t group = 6; group < 900; group += 6)
      EXPECT_TRUE(met.contains(group - 1) && met.contains(group)) << group << " " << layout;
  }
}

TEST(ReferenceAt, CountsEachPixelOfWindowsThatOverlap) {
  // The output has 16 times 72 products.
  const Workload workload = parse_workload("conv2d n=8 h=66 w=66 c=8 k=64 r=3 s=3 epilogue=maxpool(4,1)");
  EXPECT_NEAR(static_cast<double>(telling_elements(workload, 0, 1000 * 16 * 72).size()), 1000, 100);
}

TEST(Inputs, AreTheSameByAnyNumberOfThreads) {
  const Workload workload = parse_workload("gemm m=700 n=900 k=1000 a=bf16:row b=e4m3:column c=f32:row");
  const auto alone = make_inputs(workload, 5, 1);
  EXPECT_EQ(make_inputs(workload, 5, 3), alone);
  const std::uint64_t key = input_key(5, "b");
  for (const std::int64_t i : {0, 1, 77777, 899999})
    EXPECT_EQ(alone[1][static_cast<std::size_t>(i)],
              drawn_value(DType::kE4M3, usual_draw(DType::kE4M3), input_step(key, i)));
}

TEST(Inputs, AreValuesOfTheirType) {
  for (const char* type : {"f16", "bf16", "e4m3", "e5m2"}) {
    const Workload w = parse_workload(fmt::format("gemm m=20 n=20 k=20 a={0} b={0}", type));
    const auto inputs = make_inputs(w, 1);
    for (const float x : inputs[0]) EXPECT_EQ(rounded_to(w.gemm().a.type, x), x) << type;
  }
  const Workload integers = parse_workload("gemm m=100 n=100 k=100 a=s8 b=s8 c=s32 accum=s32");
  float largest = 0;
  const auto inputs = make_inputs(integers, 1);
  for (const float x : inputs[0]) {
    EXPECT_EQ(rounded_to(DType::kS8, x), x);
    largest = std::max(largest, std::abs(x));
  }
  EXPECT_GT(largest, 50);
  EXPECT_EQ(make_reference(integers, inputs).tolerance, 0);
}

TEST(Inputs, LookNormalAndDependOnTheSeedAlone) {
  const Workload w = parse_workload("gemm m=100 n=100 k=100");
  const auto inputs = make_inputs(w, 1);
  EXPECT_EQ(inputs, make_inputs(w, 1));
  EXPECT_NE(inputs, make_inputs(w, 2));
  EXPECT_NE(inputs[0], inputs[1]);
  EXPECT_TRUE(inputs[2].empty());
  double sum = 0;
  double squares = 0;
  for (const float x : inputs[0]) {
    sum += x;
    squares += static_cast<double>(x) * x;
  }
  EXPECT_NEAR(sum / 1e4, 0, 0.05);
  EXPECT_NEAR(squares / 1e4, 1, 0.05);
}

}  // namespace
}  // namespace lehr
