// Tests of bf16 and 8-bit integers on the CPU: the kernels of every family that multiplies them, compiled and
// run, are right on odd shapes, whether the text is that of a processor with the instructions or of one
// without.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/rng.h"
#include "cpu_problems.h"
#include "cpu_runs.h"
#include "templates/catalog.h"

namespace lehr {
namespace {

using lehr::testing::convolutions;
using lehr::testing::depthwise_convolutions;
using lehr::testing::expect_right;
using lehr::testing::fused;
using lehr::testing::nhwc_convolutions;
using lehr::testing::shapes;

std::vector<std::string> with(const std::vector<std::string>& texts, const std::string& types) {
  std::vector<std::string> all;
  for (const std::string& text : texts)
    if (text.find("4096") == std::string::npos) all.push_back(text + types);
  return all;
}

/// Returns the texts without depthwise ones, which have a family of their own.
std::vector<std::string> dense(std::vector<std::string> texts) {
  std::erase_if(texts, [](const std::string& text) { return text.find("groups=16") != std::string::npos; });
  return texts;
}

TEST(Narrow, ProductsOfBf16AreRight) {
  expect_right(with(shapes(), " a=bf16 b=bf16 c=bf16"), 3, 1);
  expect_right(with(shapes(), " a=bf16 b=bf16:row:constant c=f32"), 3, 2);
  expect_right(with(shapes(), " a=bf16:column b=bf16:column:constant c=f32"), 2, 3);
  expect_right(with(shapes(), " a=bf16 b=bf16:column c=bf16 epilogue=bias+relu"), 2, 4);
}

TEST(Narrow, ProductsOf8BitIntegersAreRightBitForBit) {
  expect_right(with(shapes(), " a=u8 b=s8:row:constant c=s32 accum=s32"), 3, 5);
  expect_right(with(shapes(), " a=s8 b=s8:row:constant c=s32 accum=s32"), 3, 6);
  expect_right(with(shapes(), " a=s8:column b=s8:column c=s32 accum=s32"), 3, 7);
  expect_right(with(shapes(), " a=u8 b=s8 c=s32 accum=s32"), 2, 8);
  expect_right(with(shapes(), " a=u8 b=s7:row:constant c=s32 accum=s32"), 3, 9);
  expect_right(with(shapes(), " a=s8 b=s7:column c=s32 accum=s32"), 2, 10);
}

TEST(Narrow, ConvolutionsOfBf16AreRight) {
  expect_right(with(dense(convolutions()), " x=bf16 f=bf16 y=bf16"), 2, 11, fused, "conv2d_oc_cpu");
  expect_right(with(nhwc_convolutions(), " x=bf16 f=bf16 y=f32"), 2, 12);
  expect_right(with(nhwc_convolutions(), " x=bf16 f=bf16 y=bf16 epilogue=bias+relu"), 1, 13);
}

TEST(Narrow, DepthwiseConvolutionsOfBf16AreRight) {
  expect_right(with(depthwise_convolutions(), " x=bf16 f=bf16 y=bf16 epilogue=bias+relu"), 3, 18, fused,
               "conv2d_depthwise_cpu");
  expect_right(with(depthwise_convolutions(), " x=bf16 f=bf16 y=f32"), 3, 19, fused, "conv2d_depthwise_cpu");
}

TEST(Narrow, DepthwiseConvolutionsOf8BitIntegersAreRightBitForBit) {
  std::vector<std::string> images = depthwise_convolutions();
  std::erase_if(images, [](const std::string& text) {
    return text.find("nhwc") == std::string::npos || text.find("r=19") != std::string::npos;
  });
  images.emplace_back("conv2d h=9 w=31 c=35 k=35 r=3 s=3 pad=1 groups=35 layout=nhwc");
  const auto check = [&](const char* types, std::uint64_t seed) {
    expect_right(with(depthwise_convolutions(), types), 3, seed, fused, "conv2d_depthwise_cpu");
    expect_right(with(images, types), 6, seed, fused, "conv2d_depthwise_cpu",
                 [](const Config& config) { return config.at("taps") == 2; });
  };
  check(" x=u8 f=s8 y=u8 accum=s32 zero=input epilogue=bias+dequant+relu+quant", 61);
  check(" x=s8 f=s7 y=s8 accum=s32 zero=input epilogue=dequant+quant", 62);
  check(" x=u8 f=s7 y=s32 accum=s32", 63);
}

TEST(Narrow, ConvolutionsOf8BitIntegersAreRightBitForBit) {
  expect_right(with(dense(convolutions()), " x=u8 f=s8 y=s32 accum=s32"), 2, 14, fused, "conv2d_oc_cpu");
  expect_right(with(dense(convolutions()), " x=s8 f=s8 y=s32 accum=s32"), 2, 15, fused, "conv2d_oc_cpu");
  expect_right(with(nhwc_convolutions(), " x=u8 f=s8 y=s32 accum=s32"), 2, 16);
  expect_right(with(nhwc_convolutions(), " x=s8 f=s8 y=s32 accum=s32"), 2, 17);
  expect_right(with(dense(convolutions()), " x=u8 f=s7 y=s32 accum=s32"), 2, 35, fused, "conv2d_oc_cpu");
  expect_right(with(nhwc_convolutions(), " x=s8 f=s7 y=s32 accum=s32"), 2, 36);
}

// Zero points, scales and saturation give every element as the scalar reference has it.
TEST(Narrow, QuantizedProductsAreRightBitForBit) {
  expect_right(
      with(shapes(), " a=u8 b=s8:row:constant c=u8 accum=s32 zero=input epilogue=bias+dequant+relu+quant"), 2,
      21);
  expect_right(with(shapes(),
                    " a=s8 b=s8:column c=s8 accum=s32 zero=input "
                    "epilogue=dequant+bias+residual(u8)+leaky_relu(0.1)+quant"),
               2, 22);
  expect_right(with(shapes(),
                    " a=u8 b=s8:column:constant c=f32 accum=s32 epilogue=dequant+residual(bf16)+clamp(-1,6)"),
               2, 23);
  expect_right(with(shapes(), " a=s8 b=s8:row:constant c=u8 accum=s32 epilogue=bias+dequant+gelu+quant"), 2,
               24);
  expect_right(with(shapes(),
                    " a=u8 b=s7:row:constant c=u8 accum=s32 zero=input "
                    "epilogue=bias+dequant+fake_quant(0,255)+residual(u8)+relu+quant"),
               2, 25);
  expect_right(with(shapes(), " a=s8 b=s8 c=f32 accum=s32 epilogue=dequant+fake_quant(-128,127)+bias+silu"),
               2, 26);
}

TEST(Narrow, QuantizedConvolutionsAreRightBitForBit) {
  expect_right(
      with(dense(convolutions()), " x=u8 f=s8 y=u8 accum=s32 zero=input epilogue=bias+dequant+relu+quant"), 2,
      31, fused, "conv2d_oc_cpu");
  expect_right(with(nhwc_convolutions(),
                    " x=u8 f=s8 y=u8 accum=s32 zero=input epilogue=bias+dequant+residual(s8)+quant"),
               2, 32);
  expect_right(with(nhwc_convolutions(), " x=s8 f=s8 y=s8 accum=s32 zero=input epilogue=dequant+bias+quant"),
               2, 33);
  expect_right(
      with(dense(convolutions()), " x=s8 f=s8 y=f32 accum=s32 zero=input epilogue=dequant+hard_swish"), 1, 34,
      fused, "conv2d_oc_cpu");
}

TEST(Narrow, FewChannelsOfAPixelAreNotFilledUp) {
  const auto families = [](const char* types) {
    const std::string image = "conv2d h=11 w=13 c=3 k=20 r=7 s=7 stride=2 pad=3 layout=nhwc";
    return kernel_space(parse_workload(image + types), testing::cpu_limits(64, 1)).space.families().size();
  };
  EXPECT_EQ(families(" x=u8 f=s8 y=s32 accum=s32"), 1u);
  EXPECT_EQ(families(" x=bf16 f=bf16 y=f32"), 1u);
  EXPECT_EQ(families(" x=u8 f=s8 y=u8 accum=s32 epilogue=dequant+maxpool(3,2,1)+quant"), 1u);
  EXPECT_EQ(families(""), 2u);
}

// An image of one pixel lies alike in both layouts: only the output has room for its sums.
TEST(Narrow, ConvolutionsToOnePixelAreRight) {
  for (const char* layout : {"nchw", "nhwc"}) {
    const std::vector<std::string> images = {
        std::string("conv2d n=3 h=1 w=1 c=224 k=15 r=1 s=1 stride=3 layout=") + layout,
        std::string("conv2d n=2 h=1 w=1 c=90 k=21 r=5 s=5 stride=2 pad=2 layout=") + layout};
    expect_right(with(images, " x=bf16 f=bf16 y=bf16"), 6, 51, fused, "conv2d_oc_cpu");
    expect_right(with(images, " x=u8 f=s8 y=u8 accum=s32 zero=input epilogue=bias+dequant+quant"), 6, 52,
                 fused, "conv2d_oc_cpu");
  }
}

TEST(Narrow, PooledConvolutionsAreRight) {
  const std::vector<std::string> images = {"conv2d h=14 w=15 c=6 k=9 r=3 s=3 pad=1",
                                           "conv2d n=2 h=11 w=13 c=3 k=20 r=7 s=7 stride=2 pad=3",
                                           "conv2d h=14 w=15 c=21 k=70 r=3 s=3 pad=2 dilation=2 layout=nhwc",
                                           "conv2d h=9 w=8 c=16 k=33 r=1 s=1 layout=nhwc"};
  expect_right(with(images, " x=bf16 f=bf16 y=bf16 epilogue=bias+relu+maxpool(3,2,1)"), 2, 41, fused,
               "conv2d_oc_cpu");
  for (const std::string pool : {"maxpool(2)", "maxpool(3,2,1)", "avgpool(2)"})
    expect_right(
        with(images, " x=u8 f=s8 y=u8 accum=s32 zero=input epilogue=bias+dequant+relu+" + pool + "+quant"), 2,
        42, fused, "conv2d_oc_cpu");
}

}  // namespace
}  // namespace lehr
