// Tests of a rewritten network whose only outputs are the values that its kernels compute.
#include "apply/match_outputs.h"

#include <gtest/gtest.h>

#include "tests/network/graph_text.h"

namespace lehr::testing {
namespace {

constexpr const char* kGraph = R"(
  input x f32 1x4x8x8
  constant w f32 4x4x3x3
  c = Conv(x, w) pads=1,1,1,1
  s = Softmax(c)
  output s f32 1x4x8x8
)";

TEST(MatchOutputs, AreThoseOfTheKernels) {
  const Network network = network_of(kGraph);
  const MatchedWorkload& matched = network.matches.workloads.at(0);
  const Replacement replacement = {&matched.matches[0], matched.workload, 1, false, 1};
  const std::string bytes = rewrite(network.model, network.shapes, {&replacement, 1}).bytes;
  const std::vector<MatchOutput> outputs = match_outputs(bytes);
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].name, "c");
  EXPECT_EQ(outputs[0].made, "c");
  EXPECT_TRUE(match_outputs(*network.model.bytes).empty());
}

TEST(MatchOutputs, TakeTheMatchOfTheNetworksOwn) {
  const MatchOutput values[] = {{"c", "c"},
                                {.name = "x", .made = "x", .narrow = true, .order = {0, 3, 1, 2}}};
  const OnnxModel twin =
      parse_onnx(std::make_shared<const std::string>(with_outputs(onnx_bytes(kGraph), values)), "it");
  ASSERT_EQ(twin.outputs.size(), 2u);
  EXPECT_EQ(twin.outputs[0].name, "c");
  ASSERT_EQ(twin.nodes.size(), 4u);
  EXPECT_EQ(twin.nodes[2].op, "Cast");
  EXPECT_EQ(twin.nodes[3].op, "Transpose");
  EXPECT_EQ(twin.nodes[3].inputs[0], twin.nodes[2].outputs[0]);
  EXPECT_EQ(twin.nodes[3].outputs[0], twin.outputs[1].name);
  EXPECT_EQ(twin.nodes[2].whole("to", 0), static_cast<std::int64_t>(OnnxType::kF32));
}

// Each output of a row expression stands beside a copy of the original's value: the nodes of both stay.
TEST(MatchOutputs, OfRowExpressionsStandBesideTheOriginals) {
  const Network network = network_of(R"(
    input x f32 4x16x32
    a = Abs(x)
    m = ReduceMax(a) axes=-1,
    y = Sub(a, m)
    output a
    output y
  )");
  const MatchedWorkload& matched = network.matches.workloads.at(0);
  const Replacement replacement = {&matched.matches[0], matched.workload, 1, false, 1};
  const MatchTrial trial = beside_trial(network, {&replacement, 1}, {});
  std::string pairs;
  for (const MatchOutput& each : trial.outputs)
    pairs += each.name + "=" + each.made + (each.by_kernel ? " " : "* ");
  EXPECT_EQ(pairs, "a=a* a.original=a.kernel y=y* y.original=y.kernel ");
  const auto nodes_of = [](const std::string& bytes) {
    std::string text;
    for (const OnnxNode& node : parse_onnx(std::make_shared<const std::string>(bytes), "it").nodes) {
      text += node.op;
      for (const std::string_view output : node.outputs) text += " " + std::string(output);
      text += "; ";
    }
    return text;
  };
  EXPECT_EQ(nodes_of(trial.original),
            "Abs a; ReduceMax m; Sub y; Identity a.original; Identity y.original; ");
  EXPECT_EQ(nodes_of(trial.bytes), "Abs a; ReduceMax m; Sub y; Fused a.kernel y.kernel; ");
  EXPECT_FALSE(are_compared_apart(network, {&replacement, 1})) << "it is not quantized";
}

}  // namespace
}  // namespace lehr::testing
