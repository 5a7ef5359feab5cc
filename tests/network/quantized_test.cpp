// Tests of quantized graphs, and of the workloads that are found in them.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "graph_text.h"
#include "network/matches.h"

namespace lehr::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

// x and r are quantized as (whole - 3) 0.5 and (whole - 7) 0.25, the filter with 0.125 or with a scale for
// each channel, c as whole 2, y as (whole - 9) 4; z is 0.
constexpr const char* kCodedTensors = R"(
  input x u8 1x8x14x14
  input r u8 1x8x14x14
  input f f32 1x8x14x14
  input a u8 4x16
  constant w s8 8x8x3x3
  constant wu u8 8x8x3x3
  constant b s32 8 = 1 2 3 4 5 6 7 8
  constant fb f32 8 = 1 2 3 4 5 6 7 8
  constant m s8 16x8
  constant xs f32 - = 0.5
  constant xz u8 - = 3
  constant rs f32 - = 0.25
  constant rz u8 - = 7
  constant ws f32 - = 0.125
  constant ws8 f32 8 = 0.125 0.25 0.5 1 2 4 8 16
  constant wz s8 - = 0
  constant wz8 s8 8 = 0 0 0 0 0 0 0 0
  constant wz1 s8 - = 1
  constant bs f32 - = 0.0625
  constant bz s32 - = 0
  constant cs f32 - = 2
  constant cz u8 - = 0
  constant ys f32 - = 4
  constant yz u8 - = 9
  constant sz s8 - = 5
  constant z u8 - = 0
)";

/// The graph's only match, which ends in y.
struct OneMatch {
  OnnxModel model;
  Matches matches;

  explicit OneMatch(const std::string& nodes)
      : model(onnx_model(kCodedTensors + nodes)), matches(matches_of(model, infer_shapes(model, {}))) {
    if (matches.workloads.empty()) return;
    EXPECT_THAT(matches.workloads, SizeIs(1));
    EXPECT_EQ(match().inputs.size() + 1, tensors_of(workload()).size()) << nodes;
  }
  const Match& match() const { return matches.workloads.at(0).matches.at(0); }
  const Workload& workload() const { return matches.workloads.at(0).workload; }

  /// Returns the input of a name as text: a value of the graph, or the elements that are made.
  std::string of(const std::string& name) const {
    std::size_t i = 0;
    for (const TensorSpec& tensor : tensors_of(workload())) {
      if (tensor.is_output()) continue;
      if (tensor.name == name) return shown(i, tensor);
      ++i;
    }
    return "none";
  }

  /// Returns "EPILOGUE -> OUTPUT OF THE MATCH", or the reason of the only gap.
  std::string text() const {
    if (matches.workloads.empty()) return matches.gaps.empty() ? "nothing" : matches.gaps[0].reason;
    return fmt::format("{} -> {}", to_text(workload().epilogue), match().output);
  }

 private:
  std::string shown(std::size_t i, const TensorSpec& tensor) const {
    const auto made = match().made.find(i);
    if (made == match().made.end()) return std::string(match().inputs[i]);
    EXPECT_EQ(made->second.type, tensor.type) << tensor.name;
    EXPECT_EQ(made->second.bytes.size(), static_cast<std::size_t>(tensor.elements * size_of(tensor.type)))
        << tensor.name;
    std::vector<float> values(made->second.bytes.size() / static_cast<std::size_t>(size_of(tensor.type)));
    for (std::size_t at = 0; at < values.size(); ++at)
      if (tensor.type == DType::kF32)
        std::memcpy(&values[at], made->second.bytes.data() + 4 * at, 4);
      else if (tensor.type == DType::kU8)
        values[at] = static_cast<unsigned char>(made->second.bytes[at]);
      else
        values[at] = static_cast<signed char>(made->second.bytes[at]);
    return fmt::format("{}", fmt::join(values, " "));
  }
};

constexpr const char* kCodedConv = R"(
  dx = DequantizeLinear(x, xs, xz)
  dw = DequantizeLinear(w, ws, wz)
  db = DequantizeLinear(b, bs, bz)
  c = Conv(dx, dw, db) pads=1,1,1,1
)";

TEST(Quantized, AConvolutionBetweenDequantizeAndQuantizeIsOneOfWholeNumbers) {
  const OneMatch it(std::string(kCodedConv) + "y = QuantizeLinear(c, ys, yz)");
  EXPECT_EQ(
      to_text(it.workload()),
      "conv2d n=1 h=14 w=14 c=8 k=8 r=3 s=3 stride=1x1 pad=1x1x1x1 dilation=1x1 groups=1 layout=nchw x=u8 "
      "f=s7 y=u8 accum=s32 epilogue=bias+dequant+quant zero=input");
  EXPECT_EQ(it.of("x"), "x");
  EXPECT_EQ(it.of("x_zero"), "3");
  EXPECT_EQ(it.of("bias"), "b");
  // x_scale w_scale / y_scale, as QLinearConv has it
  EXPECT_THAT(it.of("dequant_scale"), ::testing::StartsWith("0.015625 0.015625"));
  EXPECT_EQ(it.of("quant_scale"), "1");
  EXPECT_EQ(it.of("quant_zero"), "9");
  EXPECT_EQ(it.match().nodes, (std::vector<std::size_t>{3, 4}));
  EXPECT_EQ(it.match().before, (std::vector<std::size_t>{0, 1, 2}));
}

TEST(Quantized, OperatorsOfWholeNumbersAreTheSameWorkloads) {
  const OneMatch pair(std::string(kCodedConv) + "y = QuantizeLinear(c, ys, yz)");
  const OneMatch one("y = QLinearConv(x, xs, xz, w, ws, wz, ys, yz, b) pads=1,1,1,1");
  EXPECT_EQ(to_text(one.workload()), to_text(pair.workload()));
  EXPECT_EQ(one.of("dequant_scale"), pair.of("dequant_scale"));
  EXPECT_EQ(OneMatch("y = QLinearMatMul(a, xs, xz, m, ws, wz, ys, yz)").text(), "dequant+quant -> y");
  EXPECT_EQ(to_text(OneMatch("y = QLinearMatMul(a, xs, z, m, ws8, wz8, ys, yz)").workload()),
            "gemm m=4 n=8 k=16 batch=1 a=u8:row b=s7:row:constant c=u8:row accum=s32 epilogue=dequant+quant");
}

TEST(Quantized, WeightsOfSevenBitsAreKnown) {
  const auto type_of = [](const char* filter) {
    return OneMatch(fmt::format("constant l s8 8x8x1x1 = {}\n y = QLinearConv(x, xs, xz, l, ws, wz, ys, yz)",
                                filter))
        .workload()
        .conv2d()
        .filter;
  };
  EXPECT_EQ(type_of("-64 64"), DType::kS7);
  EXPECT_EQ(type_of("1 65"), DType::kS8);
  EXPECT_EQ(type_of("-65"), DType::kS8);
}

TEST(Quantized, EachChannelMayHaveAScale) {
  const OneMatch it(R"(
    dx = DequantizeLinear(x, xs, xz)
    dw = DequantizeLinear(w, ws8, wz8) axis=0
    c = Conv(dx, dw) pads=1,1,1,1
    y = QuantizeLinear(c, ys, yz)
  )");
  EXPECT_EQ(it.text(), "dequant+quant -> y");
  EXPECT_EQ(it.of("dequant_scale"), "0.015625 0.03125 0.0625 0.125 0.25 0.5 1 2");
}

TEST(Quantized, WithoutQuantizeLinearTheOutputIsF32) {
  const OneMatch it(std::string(kCodedConv) + "y = Relu(c)");
  EXPECT_EQ(it.text(), "bias+dequant+relu -> y");
  EXPECT_THAT(it.of("dequant_scale"), ::testing::StartsWith("0.0625 "));
  EXPECT_THAT(to_text(it.workload()), HasSubstr("y=f32"));
}

TEST(Quantized, FunctionsStandBetweenTheScales) {
  EXPECT_EQ(OneMatch(std::string(kCodedConv) + "d = Relu(c)\n y = QuantizeLinear(d, ys, yz)").text(),
            "bias+dequant+relu+quant -> y");
  // A value that a factor changes is computed of the reals.
  const OneMatch it(std::string(kCodedConv) +
                    "t = Sigmoid(c)\n d = Mul(c, t)\n y = QuantizeLinear(d, ys, yz)");
  EXPECT_EQ(it.text(), "bias+dequant+silu+quant -> y");
  EXPECT_THAT(it.of("dequant_scale"), ::testing::StartsWith("0.0625 "));
  EXPECT_EQ(it.of("quant_scale"), "0.25");
}

TEST(Quantized, ARoundingInTheMiddleIsKept) {
  const OneMatch it(std::string(kCodedConv) + R"(
    q = QuantizeLinear(c, cs, cz)
    d = DequantizeLinear(q, cs, cz)
    dr = DequantizeLinear(r, rs, rz)
    e = Add(d, dr)
    g = Relu(e)
    y = QuantizeLinear(g, ys, yz)
  )");
  EXPECT_EQ(it.text(), "bias+dequant+fake_quant(0,255)+residual(u8)+relu+quant -> y");
  EXPECT_THAT(it.of("dequant_scale"), ::testing::StartsWith("0.03125 "));  // in units of 2
  EXPECT_EQ(it.of("fake_scale"), "1");
  EXPECT_EQ(it.of("fake_zero"), "0");
  EXPECT_EQ(it.of("fake_step"), "0.5");  // then in units of 4
  EXPECT_EQ(it.of("residual"), "r");
  EXPECT_EQ(it.of("residual_scale"), "0.0625");
  EXPECT_EQ(it.of("residual_zero"), "7");
  EXPECT_EQ(it.of("quant_scale"), "1");
  const OneMatch operators(R"(
    q = QLinearConv(x, xs, xz, w, ws, wz, cs, cz, b) pads=1,1,1,1
    y = com.microsoft::QLinearAdd(r, rs, rz, q, cs, cz, ys, yz)
  )");
  EXPECT_EQ(operators.text(), "bias+dequant+fake_quant(0,255)+residual(u8)+quant -> y");
  EXPECT_EQ(operators.of("residual_scale"), "0.0625");
}

TEST(Quantized, AMatchEndsWhereItsEpilogueDoes) {
  // The residual is added twice: the second sum is another node's.
  EXPECT_EQ(OneMatch(std::string(kCodedConv) + R"(
    q = QuantizeLinear(c, cs, cz)
    d = DequantizeLinear(q, cs, cz)
    dr = DequantizeLinear(r, rs, rz)
    e = Add(d, dr)
    s = QuantizeLinear(e, ys, yz)
    t = DequantizeLinear(s, ys, yz)
    u = Add(t, dr)
    y = QuantizeLinear(u, ys, yz)
  )")
                .text(),
            "bias+dequant+fake_quant(0,255)+residual(u8)+quant -> s");
  // A value that other nodes read, too, is an output.
  EXPECT_EQ(OneMatch(std::string(kCodedConv) + R"(
    q = QuantizeLinear(c, cs, cz)
    d = DequantizeLinear(q, cs, cz)
    y = Relu(d)
    v = Softmax(d)
  )")
                .text(),
            "bias+dequant+quant -> q");
}

TEST(Quantized, ThePoolOfWholeNumbersIsThatOfTheReals) {
  const OneMatch it(std::string(kCodedConv) + R"(
    q = QuantizeLinear(c, ys, yz)
    d = DequantizeLinear(q, ys, yz)
    p = MaxPool(d) kernel_shape=2,2 strides=2,2
    y = QuantizeLinear(p, ys, yz)
  )");
  EXPECT_EQ(it.text(), "bias+dequant+maxpool(2)+quant -> y");
  const OneMatch operators(R"(
    q = QLinearConv(x, xs, xz, w, ws, wz, ys, yz, b) pads=1,1,1,1
    y = MaxPool(q) kernel_shape=2,2 strides=2,2
  )");
  EXPECT_EQ(operators.text(), "bias+dequant+maxpool(2)+quant -> y");
}

TEST(Quantized, ABiasInOtherUnitsIsAddedToTheReals) {
  const OneMatch it(R"(
    dx = DequantizeLinear(x, xs, xz)
    dw = DequantizeLinear(w, ws, wz)
    c = Conv(dx, dw, fb) pads=1,1,1,1
    y = QuantizeLinear(c, ys, yz)
  )");
  EXPECT_EQ(it.text(), "dequant+bias+quant -> y");
  EXPECT_EQ(it.of("bias"), "0.25 0.5 0.75 1 1.25 1.5 1.75 2");
  const OneMatch product(R"(
    da = DequantizeLinear(a, xs, xz)
    dm = DequantizeLinear(m, ws, wz)
    p = MatMul(da, dm)
    q = QuantizeLinear(p, cs, cz)
    d = DequantizeLinear(q, cs, cz)
    s = Add(d, fb)
    y = QuantizeLinear(s, ys, yz)
  )");
  EXPECT_EQ(product.text(), "dequant+fake_quant(0,255)+bias+quant -> y");
  EXPECT_EQ(product.of("fake_step"), "0.5");
}

TEST(Quantized, WhatIsAddedIsABiasOrAResidual) {
  // Returns the workload in which something is added. It depends on the dimensions of both, on which of them
  // are the channels, and on whether the file has the elements.
  const auto added = [](const std::string& rows, const std::string& added) {
    return OneMatch("input v u8 " + rows + "x16\n" + added + R"(
      dv = DequantizeLinear(v, xs, xz)
      dm = DequantizeLinear(m, ws, wz)
      p = MatMul(dv, dm)
      s = Add(p, t)
      y = QuantizeLinear(s, ys, yz)
    )")
        .text();
  };
  for (const char* rows : {"1", "4", "8", "2x4"})
    for (const char* shape : {"8", "1x8"})
      EXPECT_EQ(added(rows, fmt::format("constant t f32 {}", shape)), "dequant+bias+quant -> y") << rows;
  EXPECT_EQ(added("2x4", "constant t f32 1x1x8"), "dequant+bias+quant -> y");
  EXPECT_EQ(added("4", "constant t f32 4x8"), "dequant+residual+quant -> y");
  EXPECT_EQ(added("8", "constant t f32 8x1"), "dequant -> p") << "one for each row";
  EXPECT_EQ(added("4", "constant t f32 1x1x8"), "dequant -> p") << "of three dimensions";
  EXPECT_EQ(added("1", "input t f32 1x8"), "dequant+residual+quant -> y") << "it is computed";
  EXPECT_EQ(added("4", "input t f32 1x8"), "dequant -> p");
  EXPECT_EQ(added("1", "input u u8 1x8\nt = DequantizeLinear(u, rs, rz)"), "dequant+residual(u8)+quant -> y");
  const auto image = [](const std::string& added) {
    return OneMatch(added + R"(
      dx = DequantizeLinear(x, xs, xz)
      dw = DequantizeLinear(w, ws, wz)
      c = Conv(dx, dw) pads=1,1,1,1
      s = Add(t, c)
      y = QuantizeLinear(s, ys, yz)
    )")
        .text();
  };
  EXPECT_EQ(image("constant t f32 8x1x1"), "dequant+bias+quant -> y");
  EXPECT_EQ(image("constant t f32 1x8x1x1"), "dequant+bias+quant -> y");
  EXPECT_EQ(image("constant t f32 1x8x14x14"), "dequant+residual+quant -> y");
  EXPECT_EQ(image("constant t f32 14"), "dequant -> c") << "it goes with the columns";
  EXPECT_EQ(image("input t f32 1x8x1x1"), "dequant -> c");
}

TEST(Quantized, WhatIsNotServedSaysWhy) {
  const auto conv = [](const std::string& filter) {
    return OneMatch("dx = DequantizeLinear(x, xs, xz)\n" + filter + "y = Conv(dx, dw)").text();
  };
  EXPECT_EQ(OneMatch("input v u8 16x8\n da = DequantizeLinear(a, xs, xz)\n dv = DequantizeLinear(v, ws, yz)\n"
                     "y = MatMul(da, dv)")
                .text(),
            "its B is quantized to u8: families take s8");
  EXPECT_EQ(conv("dw = DequantizeLinear(w, ws8, wz8) axis=1\n"),
            "its filter has other scales than one for each channel");
  EXPECT_EQ(conv("dw = Identity(f)\n"),
            "only one of its operands is quantized: the engine computes it in f32");
  EXPECT_EQ(conv("constant wz3 s8 3 = 0 0 0\n dw = DequantizeLinear(w, ws8, wz3) axis=0\n"),
            "there are 3 zero points in 'wz3', and 8 scales");
  EXPECT_EQ(conv("dw = DequantizeLinear(w, ws, cz)\n"),
            "the zero point 'cz' is no constant of s8 in the file");
  EXPECT_EQ(OneMatch("y = ConvInteger(x, w)").text(),
            "its operands are quantized at run time, which has no workload");
  EXPECT_EQ(OneMatch("s = Abs(xs)\n dx = DequantizeLinear(x, s, xz)\n y = Conv(dx, f)").text(),
            "the scale 's' is no constant of f32 in the file");
}

// Elements are 2 x 3: rows are channels.
constexpr const char* kWeights = R"(
  input p u8 4x3
  dp = DequantizeLinear(p, xs, xz)
  constant rows f32 2x3 = 0.1 0.26 -0.374 20 -30 0.5
  constant whole s8 2x3 = 1 2 3 4 5 6
  constant ws2 f32 2 = 0.25 0.125
  constant wz2 s8 2 = 0 0
)";

TEST(Quantized, WeightsThatTheFileQuantizesItselfAreRoundedAsAnEngineDoes) {
  const OneMatch it(std::string(kWeights) + R"(
    q = QuantizeLinear(rows, ws2, wz2) axis=0
    d = DequantizeLinear(q, ws2, wz2) axis=0
    y = Gemm(dp, d) transB=1
  )");
  EXPECT_EQ(it.of("b"), "0 1 -1 127 -128 4");
  EXPECT_EQ(it.workload().gemm().b.type, DType::kS8);
  EXPECT_TRUE(it.workload().gemm().b.constant);
  EXPECT_EQ(it.of("dequant_scale"), "0.125 0.0625");
  EXPECT_EQ(it.match().before.size(), 3u);
}

TEST(Quantized, WeightsWithAZeroPointAreWhatS8HoldsOfThem) {
  const auto product = [](const std::string& weights, const std::string& zero) {
    return OneMatch(std::string(kWeights) + "constant uw " + weights + "\n constant uz " + zero +
                    "\n d = DequantizeLinear(uw, ws, uz)\n y = Gemm(dp, d) transB=1");
  };
  const OneMatch it = product("u8 2x3 = 0 1 127 128 129 255", "u8 - = 128");
  EXPECT_EQ(it.of("b"), "-128 -127 -1 0 1 127");
  EXPECT_EQ(it.workload().gemm().b.type, DType::kS8);
  EXPECT_EQ(it.match().before.size(), 2u);
  EXPECT_EQ(product("u8 2x3 = 60 100 90 101 140 99", "u8 - = 100").of("b"), "-40 0 -10 1 40 -1");
  EXPECT_EQ(product("s8 2x3 = -3 0 -13 4 5 5", "s8 - = -3").of("b"), "0 3 -10 7 8 8");
  const OneMatch channels(std::string(kWeights) + R"(
    constant uw u8 2x3 = 10 20 30 240 250 255
    constant uz u8 2 = 20 200
    d = DequantizeLinear(uw, ws2, uz) axis=0
    y = Gemm(dp, d) transB=1
  )");
  EXPECT_EQ(channels.of("b"), "-10 0 10 40 50 55");
  EXPECT_EQ(product("u8 2x3 = 0 1 2 3 4 200", "u8 - = 0").text(),
            "its B is quantized to u8: families take s8");
  EXPECT_EQ(product("s8 2x3 = -3 0 -13 4 5 127", "s8 - = -3").text(), "its B has a zero point that is not 0");
  const OneMatch linear(R"(
    constant mu u8 16x8
    constant mz u8 - = 128
    y = QLinearMatMul(a, xs, z, mu, ws, mz, ys, yz))");
  EXPECT_EQ(linear.of("b").substr(0, 10), "-127 -127 ");
  EXPECT_EQ(linear.of("a"), "a");
}

TEST(Quantized, AScaleMayBeAConstantNode) {
  const OneMatch it(std::string(kWeights) + R"(
    scale = Constant() value_float=0.25
    d = DequantizeLinear(whole, ws2, wz2) axis=0
    dq = DequantizeLinear(p, scale)
    y = Gemm(dq, d) transB=1
  )");
  EXPECT_EQ(it.of("dequant_scale"), "0.0625 0.03125");
}

TEST(Quantized, WeightsThatAreNoNumbersAreLeftToTheEngine) {
  EXPECT_EQ(OneMatch(std::string(kWeights) + R"(
    constant bad f32 2x3 = 1 nan 1 1 1 1
    q = QuantizeLinear(bad, ws2, wz2) axis=0
    d = DequantizeLinear(q, ws2, wz2) axis=0
    y = Gemm(dp, d) transB=1
  )")
                .text(),
            "its weights are not all numbers");
}

TEST(Quantized, WeightsThatAreClippedInTheFileAreClipped) {
  const OneMatch it(std::string(kWeights) + R"(
    constant low s8 - = -4
    constant high s8 - = 5
    q = QuantizeLinear(rows, ws2, wz2) axis=0
    n = Clip(q, low, high)
    d = DequantizeLinear(n, ws2, wz2) axis=0
    y = Gemm(dp, d) transB=1
  )");
  EXPECT_EQ(it.of("b"), "0 1 -1 5 -4 4");
}

TEST(Quantized, WeightsBehindTransposeAreMovedWithTheirChannels) {
  for (const char* const nodes :
       {"d = DequantizeLinear(whole, ws2, wz2) axis=0\n t = Transpose(d) perm=1,0\n y = MatMul(dp, t)",
        "d = DequantizeLinear(whole, ws2, wz2) axis=-2\n t = Transpose(d)\n y = MatMul(dp, t)",
        "u = Transpose(whole)\n d = DequantizeLinear(u, ws2, wz2) axis=1\n y = MatMul(dp, d)"}) {
    const OneMatch it(std::string(kWeights) + nodes);
    EXPECT_EQ(it.of("b"), "1 4 2 5 3 6") << nodes;
    EXPECT_EQ(it.workload().gemm().b.type, DType::kS7);
    EXPECT_EQ(it.of("dequant_scale"), "0.125 0.0625") << nodes;
  }
  EXPECT_EQ(OneMatch(std::string(kWeights) + R"(
    d = DequantizeLinear(whole, ws2, wz2) axis=0
    constant to s64 2 = 3 2
    t = Reshape(d, to)
    y = MatMul(dp, t)
  )")
                .text(),
            "its weights' channels are put into another shape");
}

TEST(Quantized, TheTypeMayBeStatedWithoutAZeroPoint) {
  const OneMatch it(std::string(kWeights) + R"(
    d = DequantizeLinear(whole, xs) axis=0
    t = Transpose(d)
    g = MatMul(dp, t)
    y = QuantizeLinear(g, ys) output_dtype=3
  )");
  EXPECT_EQ(it.workload().gemm().c.type, DType::kS8);
  EXPECT_EQ(it.text(), "dequant+quant -> y");
}

}  // namespace
}  // namespace lehr::testing
