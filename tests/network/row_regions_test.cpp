// Tests of graphs, and of the row expressions that are found in them.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "graph_text.h"
#include "network/row_regions.h"
#include "workload/workload.h"

namespace lehr::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kRowTensors = R"(
  input x f32 2x6x16
  input r f32 2x6x16
  input s f32 2x4x6x6
  input mask f32 2x1x1x6
  input causal f32 1x1x6x6
  input perhead f32 1x4x1x1
  input odd f32 2x1x6x6
  input perrow f32 2x4x6x1
  input half f32 2x6x16
  input open f32 batchx16
  constant g f32 16
  constant b f32 16
  constant w f32 16x16
  constant two f32 - = 2
  constant one f32 - = 1
  constant few f32 1 = 0.001
  constant cube f32 - = 3
  constant never f32 - = nan
  constant last s64 1 = -1
  constant first s64 1 = 0
  constant eighth f32 - = 0.125
  constant root2 f32 - = 1.4142135
  constant point5 f32 - = 0.5
)";

/// Returns the texts of all regions that are workloads, each followed by the values that it reads and makes.
std::vector<std::string> regions(const std::string& nodes, std::int64_t opset = 17,
                                 const std::vector<std::size_t>& taken_nodes = {}) {
  const OnnxModel model = onnx_model(kRowTensors + nodes, opset);
  std::vector<char> taken(model.nodes.size());
  for (const std::size_t node : taken_nodes) taken[node] = true;
  std::vector<std::string> texts;
  for (const RowRegion& region : row_regions(model, infer_shapes(model, {}), readers_of(model), taken)) {
    try {
      const std::string text = to_text(parse_workload(region.workload));
      texts.push_back(fmt::format("{} of {} to {}", text.substr(std::string("rowwise ").size()),
                                  fmt::join(region.inputs, " "), fmt::join(region.outputs, " ")));
    } catch (const Error&) {
      // More terms, or more reductions that depend on each other, than an expression has.
    }
  }
  return texts;
}

std::string only(const std::string& nodes, std::int64_t opset = 17) {
  const auto found = regions(nodes, opset);
  if (found.size() == 1) return found[0];
  return found.empty() ? "nothing" : fmt::format("{} regions", found.size());
}

TEST(RowRegions, AreSoftmaxes) {
  EXPECT_EQ(only("y = Softmax(s)\n output y"),
            "m=48 n=6 in=x0:f32 out=y:f32 expr=y=exp(x0-max(x0))/sum(exp(x0-max(x0))) of s to y");
  EXPECT_EQ(only("y = LogSoftmax(x) axis=2\n output y"),
            "m=12 n=16 in=x0:f32 out=y:f32 expr=t0=x0-max(x0);y=t0-log(sum(exp(t0))) of x to y");
  EXPECT_EQ(only("y = Softmax(s) axis=1\n output y"), "nothing");
  // Before opset 13 all dimensions from the axis on are one row.
  EXPECT_EQ(only("y = Softmax(s) axis=2\n output y", 12),
            "m=8 n=36 in=x0:f32 out=y:f32 expr=y=exp(x0-max(x0))/sum(exp(x0-max(x0))) of s to y");
  EXPECT_THAT(only("y = Softmax(x)\n output y", 12), HasSubstr("m=2 n=96 "));
}

TEST(RowRegions, ReadMasksByTheirRows) {
  const auto scores = [](const std::string& mask) {
    return only("a = Mul(s, eighth)\n c = Add(a, " + mask + ")\n y = Softmax(c)\n output y");
  };
  const std::string kRest = "out=y:f32 expr=t0=x0*0.125+x1;y=exp(t0-max(t0))/sum(exp(t0-max(t0))) of s ";
  EXPECT_EQ(scores("mask"), "m=48 n=6 in=x0:f32,x1:f32:column/24 " + kRest + "mask to y");
  EXPECT_EQ(scores("causal"), "m=48 n=6 in=x0:f32,x1:f32:column%6 " + kRest + "causal to y");
  EXPECT_EQ(scores("perrow"), "m=48 n=6 in=x0:f32,x1:f32:row " + kRest + "perrow to y");
  // A value with a line for each of the middle dimensions is left out: the rows that read a line neither
  // follow each other nor lie at a constant distance.
  EXPECT_EQ(scores("perhead"),
            "m=48 n=6 in=x0:f32 out=y:f32 expr=y=exp(x0-max(x0))/sum(exp(x0-max(x0))) of c to y");
  EXPECT_THAT(scores("odd"), HasSubstr("of c to y"));
  EXPECT_EQ(scores("never"), "m=48 n=6 in=x0:f32,x1:f32:number " + kRest + "never to y");
}

TEST(RowRegions, AreNormalizationsOfSums) {
  EXPECT_EQ(only("a = Add(x, r)\n y = LayerNormalization(a, g, b)\n output y\n output a"),
            "m=12 n=16 in=x0:f32,x1:f32,x2:f32:column,x3:f32:column out=y0:f32,y1:f32 "
            "expr=y0=x0+x1;y1=(y0-mean(y0))*rsqrt(var(y0)+1e-05)*x2+x3 of x r g b to a y");
  EXPECT_EQ(
      only("y, mean, factor = LayerNormalization(x, g) epsilon=0.5\n output y\n output mean\n output factor"),
      "m=12 n=16 in=x0:f32,x1:f32:column out=y0:f32,y1:f32:row,y2:f32:row "
      "expr=y0=(x0-mean(x0))*rsqrt(var(x0)+0.5)*x1;y1=mean(x0);y2=rsqrt(var(x0)+0.5) of x g to y mean "
      "factor");
  EXPECT_EQ(only("y = LayerNormalization(s, causal) axis=2\n output y"),
            "m=8 n=36 in=x0:f32,x1:f32:column out=y:f32 expr=y=(x0-mean(x0))*rsqrt(var(x0)+1e-05)*x1 of s "
            "causal to y");
  EXPECT_EQ(only("y = RMSNormalization(x, g)\n output y", 23),
            "m=12 n=16 in=x0:f32,x1:f32:column out=y:f32 expr=y=x0*rsqrt(mean(x0*x0)+1e-05)*x1 of x g to y");
}

TEST(RowRegions, AreWhatExportersWriteForThem) {
  EXPECT_EQ(only("m = ReduceMean(x) axes=-1,\n d = Sub(x, m)\n q = Pow(d, two)\n v = ReduceMean(q) axes=2,\n"
                 "e = Add(v, few)\n f = Sqrt(e)\n n = Div(d, f)\n k = Mul(n, g)\n y = Add(k, b)\n output y"),
            "m=12 n=16 in=x0:f32,x1:f32:column,x2:f32:column out=y:f32 "
            "expr=t0=x0-mean(x0);y=t0*rsqrt(mean(t0*t0)+0.001)*x1+x2 of x g b to y");
  EXPECT_EQ(
      only("q = Mul(x, x)\n v = ReduceMean(q, last)\n e = Add(v, few)\n f = Sqrt(e)\n n = Reciprocal(f)\n"
           "k = Mul(x, n)\n y = Mul(g, k)\n output y",
           18),
      "m=12 n=16 in=x0:f32,x1:f32:column out=y:f32 expr=y=x1*(x0*rsqrt(mean(x0*x0)+0.001)) of x g to y");
  EXPECT_EQ(
      only("q = Pow(x, two)\n v = ReduceMean(q) axes=-1,\n f = Sqrt(v)\n n = Div(one, f)\n y = Mul(x, n)\n"
           "output y"),
      "m=12 n=16 in=x0:f32 out=y:f32 expr=y=x0*rsqrt(mean(x0*x0)) of x to y");
  EXPECT_EQ(only("d = Div(x, root2)\n e = Erf(d)\n p = Add(e, one)\n q = Mul(x, p)\n h = Mul(q, point5)\n"
                 "y = Mul(h, r)\n output y"),
            "m=12 n=16 in=x0:f32,x1:f32 out=y:f32 expr=y=gelu_erf(x0)*x1 of x r to y");
  EXPECT_EQ(only("c = Less(x, r)\n d = Where(c, x, one)\n y = Abs(d)\n output y"),
            "m=12 n=16 in=x0:f32,x1:f32 out=y:f32 expr=y=abs(select(x0<x1,x0,1)) of x r to y");
}

TEST(RowRegions, AreReductions) {
  EXPECT_EQ(only("a = Exp(x)\n y = ReduceSum(a, last) keepdims=0\n output y"),
            "m=12 n=16 in=x0:f32 out=y:f32:row expr=y=sum(exp(x0)) of x to y");
  EXPECT_EQ(only("a = Exp(x)\n y = ReduceSum(a, first)\n output y"), "nothing");
  EXPECT_EQ(only("a = Exp(x)\n y = ReduceMax(a)\n output y"), "nothing");
  // Without the last dimension it is no row value to its readers.
  EXPECT_EQ(only("a = Exp(s)\n m = ReduceMax(a) axes=-1, keepdims=0\n y = Mul(m, m)\n output y"),
            "m=48 n=6 in=x0:f32 out=y:f32:row expr=y=max(exp(x0)) of s to m");
}

TEST(RowRegions, AreOperatorsOfOnnxRuntime) {
  const auto contributed = [](std::string node) {
    return only(node.insert(node.find("= ") + 2, "com.microsoft::"));
  };
  EXPECT_EQ(contributed("output y\n output t\n y, , , t = SkipLayerNormalization(x, r, g, b, b)"),
            "m=12 n=16 in=x0:f32,x1:f32,x2:f32:column,x3:f32:column out=y0:f32,y1:f32 "
            "expr=t0=x0+x1+x3;y0=(t0-mean(t0))*rsqrt(var(t0)+1e-12)*x2+x3;y1=t0 of x r g b to y t");
  EXPECT_EQ(contributed("output y\n y = SkipSimplifiedLayerNormalization(x, r, g)"),
            "m=12 n=16 in=x0:f32,x1:f32,x2:f32:column out=y:f32 "
            "expr=t0=x0+x1;y=t0*rsqrt(mean(t0*t0)+1e-05)*x2 of x r g to y");
  EXPECT_THAT(contributed("output y\n y = BiasGelu(x, b)"), HasSubstr("expr=y=gelu_erf(x0+x1) of x b"));
  EXPECT_THAT(contributed("output y\n y = FastGelu(x)"), HasSubstr("expr=y=gelu_tanh(x0) of x"));
  EXPECT_THAT(contributed("output y\n y = QuickGelu(x)"), HasSubstr("expr=y=x0*sigmoid(1.702*x0) of x"));
}

// A product reads the first region's value, and its own value goes into the second region together with the
// first one's. One region of both would read what it makes itself.
TEST(RowRegions, EndAtProducts) {
  EXPECT_THAT(
      regions("n = LayerNormalization(x, g)\n p = MatMul(n, w)\n a = Add(p, n)\n y = Relu(a)\n output y"),
      ElementsAre(HasSubstr("of x g to n"), HasSubstr("expr=y=relu(x0+x1) of p n to y")));
  // The sum comes behind the product, and is alone there.
  EXPECT_THAT(regions("a = Exp(x)\n c = Neg(a)\n p = MatMul(c, w)\n d = Abs(a)\n e = Add(d, p)\n output e"),
              ElementsAre(HasSubstr("out=y0:f32,y1:f32 expr=t0=exp(x0);y0=-t0;y1=abs(t0) of x to c d")));
}

TEST(RowRegions, AreWholeOrNone) {
  const auto chain = [](std::size_t nodes) {
    std::string text = "v0 = Neg(x)\n";
    for (std::size_t i = 1; i < nodes; ++i) text += fmt::format("v{} = Abs(v{})\n", i, i - 1);
    return only(text + fmt::format("output v{}", nodes - 1));
  };
  EXPECT_THAT(chain(63), HasSubstr("of x to v62"));
  EXPECT_EQ(chain(64), "nothing");
  EXPECT_EQ(chain(20000), "nothing");
  std::string inputs, sum = "s1 = Add(in0, in1)\n";
  for (int i = 0; i < 9; ++i) inputs += fmt::format("input in{} f32 4x8\n", i);
  for (int i = 2; i < 8; ++i) sum += fmt::format("s{} = Add(s{}, in{})\n", i, i - 1, i);
  EXPECT_THAT(only(inputs + sum + "output s7"), HasSubstr("in7 to s7"));
  EXPECT_EQ(only(inputs + sum + "s8 = Add(s7, in8)\noutput s8"), "nothing");
  EXPECT_EQ(
      only(
          "a = Exp(x)\nb1 = Neg(a)\nb2 = Abs(a)\nb3 = Tanh(a)\nb4 = Relu(a)\noutput a\noutput b1\noutput b2\n"
          "output b3\noutput b4"),
      "nothing");
}

TEST(RowRegions, LeaveTheRest) {
  EXPECT_EQ(only("y = Add(x, r)\n output y"), "nothing");
  EXPECT_EQ(only("a = Add(x, r)\n y = Relu(a)\n output y"),
            "m=12 n=16 in=x0:f32,x1:f32 out=y:f32 expr=y=relu(x0+x1) of x r to y");
  EXPECT_THAT(regions("a = Add(x, r)\n y = Relu(a)\n output y", 17, {0}), IsEmpty());
  EXPECT_EQ(only("a = Exp(open)\n y = Relu(a)\n output y"), "nothing");
  EXPECT_EQ(only("a = Exp(g)\n c = Relu(a)\n y = MatMul(x, w)\n output y"), "nothing");
  EXPECT_EQ(only("c = Less(x, r)\n d = Where(c, x, one)\n y = Abs(d)\n output y\n output c"), "nothing");
  EXPECT_EQ(only("a = Pow(x, cube)\n y = Exp(a)\n output y"),
            "m=12 n=16 in=x0:f32 out=y:f32 expr=y=exp(x0*x0*x0) of x to y");
  EXPECT_EQ(only("a = Pow(x, r)\n y = Sin(a)\n output y"), "nothing");
}

}  // namespace
}  // namespace lehr::testing
