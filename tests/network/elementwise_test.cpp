// Tests of the nodes that exporters write for functions of one value.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <map>

#include "base/rng.h"
#include "base/text.h"
#include "graph_text.h"
#include "network/elementwise.h"

namespace lehr::testing {
namespace {

// Returns the epilogue of nodes that make y of x, with the number of nodes that are one step.
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
  return fmt::format("{} {}{}", to_text(Epilogue{{step->step}}), step->nodes.size(),
                     step->output == "y" ? "" : fmt::format(" to {}", step->output));
}

TEST(Elementwise, FindsTheVocabularyHoweverItIsWritten) {
  EXPECT_EQ(found("y = Relu(x)"), "relu 1");
  EXPECT_EQ(found("y = Max(zero, x)"), "relu 1");
  EXPECT_EQ(found("y = Max(zero, x, minus)"), "relu 1");
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

// Functions were once compared at points within +-30, to 1e-5. Bounds outside of them or below that were
// lost, and with them infinities in what followed.
TEST(Elementwise, KeepsBoundsOfAnySize) {
  EXPECT_EQ(found("constant h f32 - = 255\n y = Clip(x, zero, h)"), "clamp(0,255) 1");
  EXPECT_EQ(found("constant h f32 - = 1e-6\n y = Clip(x, h, six)"), "clamp(1e-06,6) 1");
  EXPECT_EQ(found("constant h f32 - = 5.9999995\n y = Clip(x, zero, h)"), "clamp(0,5.9999995) 1");
  EXPECT_EQ(found("constant h f32 - = 1e30\n a = Relu(x)\n y = Min(a, h)\n z1 = Identity(y)"), "relu 1 to a");
  EXPECT_EQ(found("y = LeakyRelu(x) alpha=1e-7"), "leaky_relu(1e-07) 1");
  EXPECT_EQ(found("constant s f32 - = 1e-7\n a = Mul(x, s)\n y = Max(x, a)"), "leaky_relu(1e-07) 2");
  // A bound that is left out is the largest number of f32.
  EXPECT_EQ(found("y = Clip(x, zero)"), "clamp(0,3.4028235e+38) 1");
  EXPECT_EQ(found("y = Clip(x) min=0.0", 9), "clamp(0,3.4028235e+38) 1");
  for (const std::string one_sided : {"y = Max(x, h)", "y = Min(x, h)"})
    for (const std::string bound : {"1e-8", "-1e-8", "1e-20", "1e20", "-30", "30"})
      EXPECT_EQ(found("constant h f32 - = " + bound + "\n " + one_sided), "none") << bound;
  EXPECT_EQ(found("constant h f32 - = 50\n constant l f32 - = -50\n a = Clip(x, l, h)\n y = Sigmoid(a)"),
            "clamp(-50,50) 1 to a");
  EXPECT_EQ(found("constant h f32 - = 1e-9\n e = Neg(x)\n a = Exp(e)\n b = Add(a, one)\n r = Reciprocal(b)\n"
                  "y = Max(r, h)"),
            "sigmoid 4 to r");
  EXPECT_EQ(found("constant h f32 - = 1e-9\n e = Neg(x)\n a = Exp(e)\n b = Add(a, one)\n d1 = Add(b, h)\n"
                  "r = Div(x, d1)\n y = Add(r, h)"),
            "silu 5 to r");
}

TEST(Elementwise, FindsPiecewiseFunctionsInPieces) {
  EXPECT_EQ(found("a = Add(x, three)\n b = Clip(a, zero, six)\n d1 = Div(b, six)\n y = Mul(x, d1)"),
            "hard_swish 4");
  EXPECT_EQ(found("a = HardSigmoid(x) alpha=0.1666667 beta=0.5\n y = Mul(a, x)"), "hard_swish 2");
  EXPECT_EQ(found("a = HardSigmoid(x) alpha=0.1667 beta=0.5\n y = Mul(a, x)"), "none");
  EXPECT_EQ(found("a = Sub(x, six)\n b = Relu(a)\n e = Relu(x)\n y = Sub(e, b)"), "relu6 4");
  EXPECT_EQ(found("a = Neg(x)\n b = Relu(a)\n e = Mul(b, half)\n f = Relu(x)\n y = Sub(f, e)"),
            "leaky_relu(0.5) 5");
}

// The shape of one of the constants would widen the value's.
TEST(Elementwise, LeavesWhatChangesTheShape) {
  EXPECT_EQ(found("constant wide f32 1x1x1 = 0\n y = Max(x, wide)"), "none");
}

// ---- Random groups, computed by themselves and by what is found for them. ----

long double value_of(const EpilogueStep& step, long double x) {
  const auto clip = [](long double v, long double low, long double high) {
    return std::min(std::max(v, low), high);
  };
  switch (step.op) {
    case EpilogueOp::kRelu:
      return std::max(x, 0.0L);
    case EpilogueOp::kRelu6:
      return clip(x, 0, 6);
    case EpilogueOp::kClamp:
      return clip(x, step.numbers[0], step.numbers[1]);
    case EpilogueOp::kLeakyRelu:
      return x < 0 ? x * step.numbers[0] : x;
    case EpilogueOp::kHardSwish:
      return x * clip(x / 6 + 0.5L, 0, 1);
    case EpilogueOp::kSilu:
      return x / (1 + std::exp(-x));
    case EpilogueOp::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case EpilogueOp::kTanh:
      return std::tanh(x);
    default:
      return NAN;
  }
}

// A chain of nodes as text, with the number that they make of a number.
class RandomGroup {
 public:
  explicit RandomGroup(Rng& rng) : rng_(rng) {
    const std::uint64_t count = 1 + rng.below(4);
    for (std::uint64_t i = 0; i < count; ++i) add_node();
  }

  std::string text() const { return constants_text_ + nodes_text_; }
  const std::vector<float>& constants() const { return constants_; }

  std::map<std::string, long double> values_at(long double x) const {
    std::map<std::string, long double> values = {{"x", x}};
    for (std::size_t i = 0; i < constants_.size(); ++i) values[fmt::format("k{}", i)] = constants_[i];
    for (const Node& node : nodes_) values[node.output] = computed(node, values);
    return values;
  }

 private:
  struct Node {
    std::string op, output;
    std::vector<std::string> inputs;
  };

  static long double computed(const Node& node, const std::map<std::string, long double>& values) {
    const auto in = [&](std::size_t i) { return values.at(node.inputs[i]); };
    const std::string& op = node.op;
    if (op == "Relu") return std::max(in(0), 0.0L);
    if (op == "HardSwish") return in(0) * std::clamp(in(0) / 6 + 0.5L, 0.0L, 1.0L);
    if (op == "Sigmoid") return 1 / (1 + std::exp(-in(0)));
    if (op == "Tanh") return std::tanh(in(0));
    if (op == "Neg") return -in(0);
    if (op == "Exp") return std::exp(in(0));
    if (op == "Max") return std::max(in(0), in(1));
    if (op == "Min") return std::min(in(0), in(1));
    if (op == "Add") return in(0) + in(1);
    if (op == "Sub") return in(0) - in(1);
    if (op == "Mul") return in(0) * in(1);
    if (op == "Div") return in(0) / in(1);
    return std::min(std::max(in(0), in(1)), in(2));  // Clip
  }

  std::string constant() {
    constexpr float kUsual[] = {0, 1, 0.5F, 3, 6, 1.0F / 6, -1};
    const bool usual = rng_.below(2) == 0;
    const auto any =
        static_cast<float>(std::pow(10, 13 * rng_.uniform() - 8) * (rng_.below(3) == 0 ? -1 : 1));
    constants_.push_back(usual ? kUsual[rng_.below(std::size(kUsual))] : any);
    std::string name = fmt::format("k{}", constants_.size() - 1);
    constants_text_ += fmt::format("constant {} f32 - = {}\n", name, constants_.back());
    return name;
  }

  // Returns the newest value, mostly; else x, or a constant.
  std::string operand() {
    const std::uint64_t which = rng_.below(4);
    return which == 0 ? "x" : which == 1 ? constant() : last_;
  }

  void add_node() {
    static const std::vector<std::string> kUnary = {"Relu", "HardSwish", "Sigmoid", "Tanh", "Neg", "Exp"},
                                          kBinary = {"Max", "Min", "Add", "Sub", "Mul", "Div"};
    Node node;
    node.output = fmt::format("n{}", nodes_.size());
    const std::uint64_t kind = rng_.below(4);
    if (kind == 0) {
      node.op = kUnary[rng_.below(kUnary.size())];
      node.inputs = {last_};
    } else if (kind == 1) {
      node.op = "Clip";
      node.inputs = {last_, constant(), constant()};
    } else {
      node.op = kBinary[rng_.below(kBinary.size())];
      node.inputs = {last_, operand()};
      if (rng_.below(2) == 0) std::swap(node.inputs[0], node.inputs[1]);
    }
    nodes_text_ += fmt::format("{} = {}({})\n", node.output, node.op, fmt::join(node.inputs, ", "));
    last_ = node.output;
    nodes_.push_back(std::move(node));
  }

  Rng& rng_;
  std::string constants_text_, nodes_text_, last_ = "x";
  std::vector<float> constants_;
  std::vector<Node> nodes_;
};

std::vector<float> points_of(const RandomGroup& group) {
  std::vector<float> points = {0};
  for (int i = -90; i <= 90; ++i) points.push_back(std::pow(10.0F, static_cast<float>(i) / 10));
  for (const float each : group.constants())
    points.insert(points.end(), {each, each / 2, 2 * each, each * 1.01F});
  for (std::size_t i = points.size(); i-- > 0;) points.push_back(-points[i]);
  return points;
}

TEST(Elementwise, OfRandomGroupsWhatIsFoundComputesTheSame) {
  constexpr std::uint64_t seed = 48;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Rng rng(seed);
  int count = 0;
  for (int round = 0; round < 1500; ++round) {
    const RandomGroup group(rng);
    const OnnxModel model = onnx_model("input x f32 2x3\n" + group.text());
    const auto step = function_of_value(model, infer_shapes(model, {}), readers_of(model), "x");
    if (!step) continue;
    ++count;
    for (const float x : points_of(group)) {
      const long double wanted = group.values_at(x).at(std::string(step->output)),
                        got = value_of(step->step, x);
      ASSERT_LE(std::abs(wanted - got), 2e-6L * std::abs(wanted) + 64 * FLT_MIN)
          << group.text() << to_text(Epilogue{{step->step}}) << " of " << x << ": " << wanted << ", " << got;
    }
  }
  EXPECT_GT(count, 150);
}

// A value that another node reads, or that the graph returns, has to be there.
TEST(Elementwise, LeavesWhatOthersRead) {
  EXPECT_EQ(found("y = Relu(x)\n w = Softmax(x)"), "none");
  EXPECT_EQ(found("y = Relu(x)\n output x"), "none");
  EXPECT_EQ(found("s = Sigmoid(x)\n y = Mul(x, s)\n output s"), "none");
  EXPECT_EQ(found("s = Sigmoid(x)\n y = Mul(x, s)\n w = Add(s, z)"), "none");
}

}  // namespace
}  // namespace lehr::testing
