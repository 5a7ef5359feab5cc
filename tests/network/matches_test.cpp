// Tests of graphs, and of the workloads that are found in them.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph_text.h"
#include "network/matches.h"

namespace lehr::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kTensors = R"(
  input x f32 1x8x14x14
  input v f32 4x16
  input s f32 2x4x16
  constant w f32 8x8x3x3
  constant dw f32 8x1x3x3
  constant b f32 8
  constant b4 f32 8x1x1
  constant number f32 1
  constant number1 f32 1x1x1x1
  constant half f32 -
  constant three f32 - = 3
  constant zero f32 - = 0
  constant six f32 - = 6
  input u f32 16x4
  constant g f32 8
  constant fc f32 16x32
  constant fct f32 32x16
  constant fb f32 32
  constant axes s64 2 = 2 3
)";

struct Found {
  OnnxModel model;
  Matches matches;
  explicit Found(const std::string& nodes)
      : model(onnx_model(kTensors + nodes)), matches(matches_of(model, infer_shapes(model, {}))) {}
};

// Returns "WORKLOAD, n nodes" of the only match, or the reason of the only gap.
std::string only(const std::string& nodes, const char* prefix) {
  const Found found(nodes);
  if (found.matches.workloads.empty())
    return found.matches.gaps.empty() ? "nothing" : found.matches.gaps[0].reason;
  EXPECT_THAT(found.matches.workloads, SizeIs(1));
  EXPECT_THAT(found.matches.workloads[0].matches, SizeIs(1));
  EXPECT_EQ(found.matches.workloads[0].matches[0].output, "y");
  // A match has as many inputs as the workload has tensors beside its output.
  EXPECT_EQ(found.matches.workloads[0].matches[0].inputs.size() + 1,
            tensors_of(found.matches.workloads[0].workload).size())
      << nodes;
  std::string text = to_text(found.matches.workloads[0].workload);
  EXPECT_THAT(text, ::testing::StartsWith(prefix));
  return fmt::format("{}, {} nodes", text.substr(text.find("epilogue=")),
                     found.matches.workloads[0].matches[0].nodes.size());
}

std::string conv(const std::string& nodes) {
  return only(nodes, "conv2d n=1 h=14 w=14 c=8 k=8 r=3 s=3 stride=1x1 pad=1x1x1x1");
}
constexpr const char* kConv = "c = Conv(x, w) pads=1,1,1,1\n";
constexpr const char* kBiased = "c = Conv(x, w, b) pads=1,1,1,1\n";

// Sigmoid of a constant is a constant to the engine. The file has no elements of it, so nothing is folded.
TEST(Matches, LeaveToTheEngineWhatNodesMakeOfConstants) {
  EXPECT_EQ(conv("k = Sigmoid(b4)\n y = Conv(x, w) pads=1,1,1,1\n z = Mul(y, k)"), "epilogue=none, 1 nodes");
  EXPECT_EQ(conv("k = Sigmoid(w)\n y = Conv(x, k) pads=1,1,1,1\n z = Mul(y, b4)"), "epilogue=none, 1 nodes");
}

TEST(Matches, TakeWhatFollowsAConvolution) {
  EXPECT_EQ(conv("y = Conv(x, w) pads=1,1,1,1"), "epilogue=none, 1 nodes");
  EXPECT_EQ(conv("y = Conv(x, w, b) pads=1,1,1,1"), "epilogue=bias, 1 nodes");
  EXPECT_EQ(conv("y = Conv(x, w) auto_pad=\"SAME_UPPER\""), "epilogue=none, 1 nodes");
  EXPECT_EQ(conv(std::string(kBiased) + "y = Relu(c)"), "epilogue=bias+relu, 2 nodes");
  EXPECT_EQ(conv(std::string(kConv) + "d = Add(c, b4)\n y = Relu(d)"), "epilogue=bias+relu, 3 nodes");
  EXPECT_EQ(conv(std::string(kBiased) + "d = Add(x, c)\n y = Relu(d)"),
            "epilogue=bias+residual+relu, 3 nodes");
  EXPECT_EQ(conv(std::string(kBiased) + "d = Sum(c, x)\n y = Relu(d)"),
            "epilogue=bias+residual+relu, 3 nodes");
  EXPECT_EQ(conv(std::string(kBiased) + "t = Sigmoid(c)\n y = Mul(c, t)"), "epilogue=bias+silu, 3 nodes");
  EXPECT_EQ(conv(std::string(kBiased) + "d = Relu(c)\n y = MaxPool(d) kernel_shape=2,2 strides=2,2"),
            "epilogue=bias+relu+maxpool(2), 3 nodes");
  EXPECT_EQ(conv(std::string(kConv) + "y = AveragePool(c) kernel_shape=2,2 strides=2,2"),
            "epilogue=avgpool(2), 2 nodes");
}

TEST(Matches, TakePoolsWhoseWindowsOverlap) {
  const auto pooled = [](const std::string& attributes) {
    return conv(std::string(kConv) + "y = MaxPool(c) " + attributes);
  };
  EXPECT_EQ(pooled("kernel_shape=3,3 strides=2,2 pads=1,1,1,1"), "epilogue=maxpool(3,2,1), 2 nodes");
  EXPECT_EQ(pooled("kernel_shape=3,3 pads=1,1,1,1"), "epilogue=maxpool(3,1,1), 2 nodes");
  EXPECT_EQ(pooled("kernel_shape=3,3 strides=2,2"), "epilogue=maxpool(3,2), 2 nodes");
  EXPECT_EQ(pooled("kernel_shape=3,3 strides=2,2 pads=0,0,1,1"), "epilogue=maxpool(3,2,0,1), 2 nodes");
  EXPECT_EQ(pooled("kernel_shape=3,3 strides=2,2 auto_pad=\"SAME_UPPER\""),
            "epilogue=maxpool(3,2,0,1), 2 nodes");
  // An output that is rounded up: of 8 pixels the last window holds two.
  EXPECT_EQ(pooled("kernel_shape=3,3 strides=2,2 ceil_mode=1"), "epilogue=maxpool(3,2,0,1), 2 nodes");
  EXPECT_EQ(pooled("kernel_shape=2,2 strides=2,2 ceil_mode=1"), "epilogue=maxpool(2), 2 nodes");
}

TEST(Matches, LeavePoolsThatAreNotServed) {
  const OnnxModel model = onnx_model(std::string(kTensors) + std::string(kConv) +
                                     "y = MaxPool(c) kernel_shape=3,3 strides=2,2 pads=1,1,1,1");
  const auto nodes = [&](bool served) {
    const Matches matches = matches_of(model, infer_shapes(model, {}), [&](const Workload& workload) {
      EXPECT_EQ(to_text(workload.epilogue), "maxpool(3,2,1)");
      return served;
    });
    return matches.workloads.at(0).matches.at(0).nodes.size();
  };
  EXPECT_EQ(nodes(true), 2u);
  EXPECT_EQ(nodes(false), 1u);
}

TEST(Matches, SignalsAreImagesOfHeightOne) {
  const Found found(R"(
    input signal f32 2x8x100
    constant w1 f32 4x8x5
    constant b1 f32 4x1
    c = Conv(signal, w1) strides=2, pads=2,1 dilations=3,
    d = Add(c, b1)
    y = Relu(d)
  )");
  ASSERT_THAT(found.matches.workloads, SizeIs(1));
  EXPECT_EQ(to_text(found.matches.workloads[0].workload),
            "conv2d n=2 h=1 w=100 c=8 k=4 r=1 s=5 stride=1x2 pad=0x0x2x1 dilation=1x3 groups=1 layout=nchw "
            "x=f32 f=f32 "
            "y=f32 accum=f32 epilogue=bias+relu");
}

TEST(Matches, FoldWhatIsLinear) {
  EXPECT_EQ(conv(std::string(kConv) + "d = BatchNormalization(c, g, b, g, b)\n y = Relu(d)"),
            "epilogue=bias+relu, 3 nodes");
  EXPECT_EQ(conv(std::string(kBiased) + "y = BatchNormalization(c, g, b, g, b)"), "epilogue=bias, 2 nodes");
  EXPECT_EQ(
      conv(std::string(kBiased) + "d = BatchNormalization(c, g, b, g, b)\n e = Mul(d, b4)\n y = Add(e, b4)"),
      "epilogue=bias, 4 nodes");
  EXPECT_EQ(conv(std::string(kBiased) + "d = Relu(c)\n y = BatchNormalization(d, g, b, g, b)"),
            "epilogue=bias+relu+scale_shift, 3 nodes");
  const Found found(std::string(kBiased) + "y = BatchNormalization(c, g, b, g, b)");
  EXPECT_THAT(found.matches.workloads[0].matches[0].inputs, ElementsAre("x", "", ""));
}

TEST(Matches, FoldNumbersAndQuotientsAndDifferences) {
  EXPECT_EQ(conv(std::string(kBiased) + "d = Mul(number, c)\n e = Add(d, number1)\n y = Relu(e)"),
            "epilogue=bias+relu, 4 nodes");
  EXPECT_EQ(conv(std::string(kConv) + "d = Div(c, number)\n e = Sub(d, b4)\n y = Relu(e)"),
            "epilogue=bias+relu, 4 nodes");
  EXPECT_EQ(conv(std::string(kConv) + "y = Div(c, number)"), "epilogue=none, 2 nodes");
  const Found found(std::string(kConv) + "y = Sub(c, b4)");
  EXPECT_THAT(found.matches.workloads[0].matches[0].inputs, ElementsAre("x", "w", ""));
  // A number from which the output is subtracted, or which the output divides, is no such number.
  EXPECT_EQ(Found(std::string(kConv) + "y = Sub(number, c)").matches.workloads[0].matches[0].nodes.size(),
            1u);
  EXPECT_EQ(Found(std::string(kConv) + "y = Div(number, c)").matches.workloads[0].matches[0].nodes.size(),
            1u);
}

TEST(Matches, ScaleAndShiftBehindWhatIsNotLinear) {
  EXPECT_EQ(conv(std::string(kBiased) + "d = Relu(c)\n e = Mul(d, number)\n y = Add(number, e)"),
            "epilogue=bias+relu+scale_shift, 4 nodes");
  EXPECT_EQ(conv(std::string(kBiased) +
                 "d = Relu(c)\n e = BatchNormalization(d, g, b, g, b)\n f = Div(e, b4)\n y = Relu(f)"),
            "epilogue=bias+relu+scale_shift+relu, 5 nodes");
  EXPECT_EQ(conv(std::string(kConv) + "d = Relu(c)\n y = Add(d, b4)"), "epilogue=relu+bias, 3 nodes");
  // The node is PaddleOCR's hard swish behind a learnt affine block, with such a block behind it.
  EXPECT_EQ(conv(std::string(kBiased) +
                 "d = Mul(number, c)\n e = Add(d, number)\n f = Add(e, three)\n h = Clip(f, zero, six)\n"
                 "i = Mul(e, h)\n j = Div(i, six)\n k = Mul(number, j)\n y = Add(k, number)"),
            "epilogue=bias+hard_swish+scale_shift, 9 nodes");
}

TEST(Matches, ScaleProductsOfVariables) {
  EXPECT_EQ(only("c = MatMul(v, u)\n y = Div(c, half)", "gemm m=4 n=4 k=16"),
            "epilogue=none alpha=2, 2 nodes");
  EXPECT_EQ(only("c = MatMul(v, u)\n d = Mul(c, half)\n y = Mul(d, half)", "gemm m=4 n=4 k=16"),
            "epilogue=none alpha=0.25, 3 nodes");
  EXPECT_EQ(only("c = MatMul(v, fc)\n y = Mul(c, half)", "gemm m=4 n=32 k=16"), "epilogue=none, 2 nodes");
}

TEST(Matches, StopAtWhatOthersRead) {
  const auto first = [](const std::string& nodes) {
    const Found found(std::string(kBiased) + nodes);
    return found.matches.workloads.at(0).matches.at(0).nodes.size();
  };
  EXPECT_EQ(first("d = Relu(c)\n e = Softmax(c)"), 1u);
  EXPECT_EQ(first("d = Relu(c)\n output c"), 1u);
  EXPECT_EQ(first("d = Relu(c)\n e = Add(d, d)"), 2u);
  EXPECT_EQ(first("d = Relu(c)\n e = MaxPool(d) kernel_shape=3,2 strides=2,2"), 2u);
  EXPECT_EQ(first("d = Relu(c)\n e = MaxPool(d) kernel_shape=3,3 strides=2,2 dilations=2,2"), 2u);
  EXPECT_EQ(first("d = Relu(c)\n e = AveragePool(d) kernel_shape=3,3 strides=2,2 pads=1,1,1,1"), 2u);
  EXPECT_EQ(first("d = Relu(c)\n e, i = MaxPool(d) kernel_shape=2,2 strides=2,2"), 2u);
  EXPECT_EQ(first("d = Mul(c, x)"), 1u);
  EXPECT_EQ(first("d = BatchNormalization(c, g, v, g, b)"), 1u);
}

TEST(Matches, TakeProductsOfEveryShape) {
  EXPECT_EQ(only("y = Gemm(v, fc, fb)", "gemm m=4 n=32 k=16 batch=1 a=f32:row b=f32:row:constant"),
            "epilogue=bias, 1 nodes");
  EXPECT_EQ(only("c = Gemm(v, fct, fb) transB=1\n y = Relu(c)",
                 "gemm m=4 n=32 k=16 batch=1 a=f32:row b=f32:column:constant"),
            "epilogue=bias+relu, 2 nodes");
  EXPECT_EQ(only("y = Gemm(v, fc) alpha=0.5", "gemm m=4 n=32 k=16"), "epilogue=none alpha=0.5, 1 nodes");
  EXPECT_EQ(only("y = Gemm(v, fc, fb) beta=0.5", ""), "its C is scaled");
  EXPECT_EQ(only("c = MatMul(s, fc)\n y = Add(fb, c)", "gemm m=8 n=32 k=16 batch=1"),
            "epilogue=bias, 2 nodes");
  EXPECT_EQ(only("t = Transpose(s) perm=0,2,1\n y = MatMul(s, t)", "gemm m=4 n=4 k=16 batch=2"),
            "epilogue=none, 1 nodes");
  EXPECT_EQ(only("y = MatMul(v, s)", ""), "its operands do not fit");
}

TEST(Matches, FoldNothingIntoABiasThatIsComputed) {
  const std::string product = "gemm m=4 n=32 k=16", row = "input r f32 32\n c = Gemm(v, fc, r)\n ";
  EXPECT_EQ(only(row + "y = Mul(c, fb)", product.c_str()), "epilogue=bias+scale_shift, 2 nodes");
  EXPECT_EQ(only(row + "y = Add(c, fb)", product.c_str()), "epilogue=bias+scale_shift, 2 nodes");
  EXPECT_EQ(only(row + "d = Sub(c, half)\n y = Relu(d)", product.c_str()),
            "epilogue=bias+scale_shift+relu, 3 nodes");
  EXPECT_EQ(only("input r f32 8\n c = Conv(x, w, r)\n y = BatchNormalization(c, g, g, g, g)", "conv2d"),
            "epilogue=bias+scale_shift, 2 nodes");
  EXPECT_EQ(only("c = Gemm(v, fc, fb)\n y = Mul(c, fb)", product.c_str()), "epilogue=bias, 2 nodes");
}

TEST(Matches, LeaveConstantsThatF32HardlyHolds) {
  const auto nodes = [](const std::string& node) {
    const Found found(
        "constant q f32 8x1x1 = 1 0 1 1 1 1 1 1\n constant large f32 - = 1e30\n constant below f32 8 = 1 -1 "
        "1 1 1 1 1 1\n "
        "constant tiny f32 - = 1e-30\n" +
        ("c = Conv(x, w)\n " + node));
    return found.matches.workloads.at(0).matches.at(0).nodes.size();
  };
  EXPECT_EQ(nodes("y = Mul(c, q)"), 2u);
  EXPECT_EQ(nodes("y = Div(c, q)"), 1u) << "a quotient by 0";
  EXPECT_EQ(nodes("d = Relu(c)\n y = Div(d, q)"), 2u);
  EXPECT_EQ(nodes("y = Mul(c, large)"), 1u);
  EXPECT_EQ(nodes("y = Div(c, large)"), 1u);
  EXPECT_EQ(nodes("y = Mul(c, tiny)"), 1u);
  EXPECT_EQ(nodes("y = Sub(c, large)"), 1u);
  EXPECT_EQ(nodes("y = BatchNormalization(c, g, g, g, below)"), 1u) << "a root of what is below 0";
  EXPECT_EQ(nodes("y = BatchNormalization(c, g, g, g, g)"), 2u);
}

TEST(Matches, CountsMatchesAndSaysWhatIsLeft) {
  const Found found(R"(
    a = Conv(x, w, b) pads=1,1,1,1
    c = Conv(a, w, b) pads=1,1,1,1
    d = Conv(c, dw) pads=1,1,1,1 group=8
    e = Conv(d, x)
    f = ConvTranspose(d, w)
    h = QLinearConv(x, x)
    q = DequantizeLinear(x, x)
    qc = Conv(q, w)
  )");
  ASSERT_THAT(found.matches.workloads, SizeIs(2));
  EXPECT_THAT(found.matches.workloads[0].matches, SizeIs(2));
  EXPECT_THAT(to_text(found.matches.workloads[1].workload), HasSubstr("groups=8"));
  EXPECT_GT(flops_of(found.matches.workloads[0]), flops_of(found.matches.workloads[1]));
  std::vector<std::string> reasons;
  for (const Gap& gap : found.matches.gaps) reasons.push_back(gap.reason);
  EXPECT_THAT(reasons, ElementsAre("its filter is computed", "transposed convolutions have no family",
                                   "the scale 'x' is no constant of f32 in the file",
                                   "the scale 'x' is no constant of f32 in the file"));
  EXPECT_EQ(found.matches.gaps[1].node, 4u);
}

TEST(Matches, AResidualIsTakenOnce) {
  // Both convolutions end in the same sum: one takes it, and reads what the other makes.
  const Found found(std::string(kConv) + "d = Conv(x, w) pads=1,1,1,1\n e = Add(c, d)\n y = Relu(e)");
  ASSERT_THAT(found.matches.workloads, SizeIs(2));
  std::size_t nodes = 0;
  for (const MatchedWorkload& task : found.matches.workloads) nodes += task.matches.at(0).nodes.size();
  EXPECT_EQ(nodes, 4u);
  EXPECT_THAT(found.matches.gaps, IsEmpty());
}

TEST(Matches, TakeRowExpressionsBetweenProducts) {
  const std::string graph = R"(
    input tall f32 64x16
    p = MatMul(tall, fc)
    q = Add(p, fb)
    n = Softmax(q)
    g1 = Sub(n, q)
    h1 = MatMul(n, back)
    e = MatMul(g1, back)
    constant back f32 32x8
    output h1
    output e
  )";
  const Found found(graph), small(std::string(graph).replace(graph.find("64x16"), 5, "4x16"));
  std::vector<std::string> texts;
  for (const MatchedWorkload& matched : found.matches.workloads)
    for (const Match& match : matched.matches) {
      EXPECT_EQ(match.by_rows, match.output == "n");
      const std::vector<std::string_view> outputs = outputs_of(match);
      texts.push_back(fmt::format("{} of {} to {}", to_text(matched.workload).substr(0, 9),
                                  fmt::join(match.inputs, " "), fmt::join(outputs, " ")));
      if (match.by_rows) {
        EXPECT_EQ(to_text(matched.workload),
                  "rowwise m=64 n=32 in=x0:f32 out=y0:f32,y1:f32 "
                  "expr=y0=exp(x0-max(x0))/sum(exp(x0-max(x0)));y1=y0-x0");
      }
    }
  EXPECT_THAT(texts,
              ::testing::UnorderedElementsAre("gemm m=64 of tall fc fb to q", "rowwise m of q to n g1",
                                              "gemm m=64 of n back to h1", "gemm m=64 of g1 back to e"));
  const Matches served = matches_of(found.model, infer_shapes(found.model, {}),
                                    [](const Workload& workload) { return !call_rows(workload).any; });
  EXPECT_THAT(served.workloads, SizeIs(2));
  EXPECT_THAT(served.gaps, IsEmpty());
  EXPECT_THAT(small.matches.workloads, SizeIs(2));
}

}  // namespace
}  // namespace lehr::testing
