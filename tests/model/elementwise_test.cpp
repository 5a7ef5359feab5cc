// What exporters write for functions of one value.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph_text.h"
#include "model/elementwise.h"

namespace lehr::testing {
namespace {

// The epilogue of nodes that make y of x, with the number of nodes that are one step.
std::string found(const std::string& nodes, std::int64_t opset = 17) {
  const OnnxModel model = onnx_model(R"(
    input x f32 2x3
    input z f32 2x3
    constant half f32 - = 0.5
    constant one f32 1 = 1
    constant two f32 - = 2
    constant three f32 - = 3
    constant six f32 - = 6
    constant minus f32 - = -1
    constant zero f32 - = 0
    constant root2 f32 - = 1.41421356
    constant root_half f32 - = 0.70710678
    constant c f32 - = 0.044715
    constant d f32 - = 0.79788456
    constant q f32 - = 1.702
    constant row f32 3
  )" + nodes,
                                     opset);
  const auto step = function_of_value(model, infer_shapes(model, {}), readers_of(model), "x");
  if (!step) return "none";
  EXPECT_EQ(step->output, "y");
  return fmt::format("{} {}", to_text(Epilogue{{step->step}}), step->nodes.size());
}

TEST(Elementwise, FindsTheVocabularyHoweverItIsWritten) {
  EXPECT_EQ(found("y = Relu(x)"), "relu 1");
  EXPECT_EQ(found("y = Max(zero, x)"), "relu 1");
  EXPECT_EQ(found("y = Clip(x, zero)"), "relu 1");
  EXPECT_EQ(found("y = Clip(x, zero, six)"), "relu6 1");
  EXPECT_EQ(found("y = Clip(x) min=0.0 max=6.0", 9), "relu6 1");
  EXPECT_EQ(found("y = Clip(x, minus, two)"), "clamp(-1,2) 1");
  EXPECT_EQ(found("y = Sigmoid(x)"), "sigmoid 1");
  EXPECT_EQ(found("y = Tanh(x)"), "tanh 1");
  EXPECT_EQ(found("y = Gelu(x)"), "gelu_erf 1");
  EXPECT_EQ(found("y = Gelu(x) approximate=\"tanh\""), "gelu_tanh 1");
  EXPECT_EQ(found("s = Sigmoid(x)\n y = Mul(x, s)"), "silu 2");
  EXPECT_EQ(found("y = HardSwish(x)"), "hard_swish 1");
  EXPECT_EQ(found("y = LeakyRelu(x) alpha=0.25"), "leaky_relu(0.25) 1");
  EXPECT_EQ(found("s = Sigmoid(x)\n y = Mul(s, x)"), "silu 2");
  EXPECT_EQ(found("n = Neg(x)\n e = Exp(n)\n p = Add(one, e)\n y = Div(x, p)"), "silu 4");
  EXPECT_EQ(found("d1 = Div(x, root2)\n e = Erf(d1)\n a = Add(e, one)\n m = Mul(x, a)\n y = Mul(m, half)"),
            "gelu_erf 5");
  EXPECT_EQ(
      found("h = Mul(x, half)\n d1 = Mul(x, root_half)\n e = Erf(d1)\n a = Add(one, e)\n y = Mul(h, a)"),
      "gelu_erf 5");
  EXPECT_EQ(found("p = Pow(x, three)\n a = Mul(p, c)\n b = Add(x, a)\n e = Mul(b, d)\n t = Tanh(e)\n f = "
                  "Add(t, one)\n"
                  "g = Mul(x, f)\n y = Mul(g, half)"),
            "gelu_tanh 8");
}

TEST(Elementwise, FindsNothingWhereItIsSomethingElse) {
  EXPECT_EQ(found("y = LeakyRelu(x) alpha=1.5"), "none");
  EXPECT_EQ(found("y = HardSigmoid(x)"), "none");
  EXPECT_EQ(found("s = Mul(x, q)\n g = Sigmoid(s)\n y = Mul(x, g)"), "none");  // a coarser GELU
  EXPECT_EQ(found("y = Mul(x, z)"), "none");
  EXPECT_EQ(found("y = Mul(x, row)"), "none");
  EXPECT_EQ(found("y = Softmax(x)"), "none");
  EXPECT_EQ(found("y = Clip(x, z)"), "none");
  EXPECT_EQ(found("y = com.example::Relu(x)"), "none");
  EXPECT_EQ(found("y = Identity(z)"), "none");
}

// What somebody else reads, or what the graph gives, has to be there.
TEST(Elementwise, LeavesWhatOthersRead) {
  EXPECT_EQ(found("y = Relu(x)\n w = Softmax(x)"), "none");
  EXPECT_EQ(found("y = Relu(x)\n output x"), "none");
  EXPECT_EQ(found("s = Sigmoid(x)\n y = Mul(x, s)\n output s"), "none");
  EXPECT_EQ(found("s = Sigmoid(x)\n y = Mul(x, s)\n w = Add(s, z)"), "none");
}

}  // namespace
}  // namespace lehr::testing
