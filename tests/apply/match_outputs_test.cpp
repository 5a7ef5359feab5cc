// The values that kernels of a rewritten network compute, as its only outputs.
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
  const PlacedWorkload& placed = network.places.workloads.at(0);
  const Replacement replacement = {&placed.places[0], placed.workload, 1, false, 1};
  const std::string bytes = rewrite(network.model, network.shapes, {&replacement, 1}).bytes;
  const std::vector<MatchOutput> outputs = match_outputs(bytes);
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].name, "c");
  EXPECT_EQ(outputs[0].made, "c");
  EXPECT_TRUE(match_outputs(*network.model.bytes).empty());
}

TEST(MatchOutputs, TakeThePlaceOfTheNetworksOwn) {
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

}  // namespace
}  // namespace lehr::testing
