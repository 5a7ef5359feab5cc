// Tests of the other workloads that compute a network's matches, and of the nodes that compute the same for
// images whose channels are last.
#include "network/layouts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "graph_text.h"

namespace lehr::testing {
namespace {

using ::testing::ElementsAre;

/// Returns the last node of a graph as it is with channels last: "Concat axis=3 images=11"; "" if it has no
/// such form.
std::string last_text(const std::string& graph) {
  const OnnxModel model = onnx_model(graph + "\n output y");
  const auto last = last_node(model.nodes.back(), infer_shapes(model, {}));
  if (!last) return "";
  std::string text(last->op);
  if (last->axis) text += " axis=" + std::to_string(*last->axis);
  text += " images=";
  for (const bool image : last->images) text += image ? '1' : '0';
  return text;
}

TEST(Layouts, Orders) {
  EXPECT_THAT(to_channels_last(4), ElementsAre(0, 2, 3, 1));
  EXPECT_THAT(to_channels_first(4), ElementsAre(0, 3, 1, 2));
  EXPECT_THAT(to_channels_last(3), ElementsAre(0, 2, 1));
}

TEST(Layouts, NodesThatComputeTheSame) {
  const std::string images = "input x f32 1x8x6x6\n input z f32 1x8x6x6\n";
  EXPECT_EQ(last_text(images + "y = Relu(x)"), "Relu images=1");
  EXPECT_EQ(last_text(images + "y = Add(x, z)"), "Add images=11");
  EXPECT_EQ(last_text(images + "y = Concat(x, z) axis=1"), "Concat axis=3 images=11");
  EXPECT_EQ(last_text(images + "y = Concat(x, z) axis=-1"), "Concat axis=2 images=11");
  EXPECT_EQ(last_text(images + "constant c f32 1x8x1x1\n y = Mul(c, x)"), "Mul images=11");
  EXPECT_EQ(last_text(images + "constant c f32 1\n y = Mul(x, c)"), "Mul images=10");
  EXPECT_EQ(last_text(images + "constant c f32 8x1x1\n y = Mul(x, c)"), "") << "of another rank";
  EXPECT_EQ(last_text(images + "y = MaxPool(x) kernel_shape=2,2"), "") << "of f32 there is none";
  EXPECT_EQ(last_text("input x u8 1x8x6x6\n y = MaxPool(x) kernel_shape=2,2"), "NhwcMaxPool images=1");
  EXPECT_EQ(last_text(images + "y = Softmax(x)"), "");
  EXPECT_EQ(last_text("input x f32 8x6\n y = Relu(x)"), "") << "no image";
  EXPECT_EQ(last_text("input x f32 1x8xWx6\n y = Relu(x)"), "") << "of sizes that are not known";
}

TEST(Layouts, AnImageOfOnePixelLiesAlike) {
  const OnnxModel model = onnx_model(
      "input x f32 1x8x1x1\n input z f32 1x1x5x5\n input v f32 1x8x1x5\n"
      "y = Identity(x)\n output y");
  const GraphShapes shapes = infer_shapes(model, {});
  EXPECT_TRUE(lies_alike(shapes, "x"));
  EXPECT_TRUE(lies_alike(shapes, "z"));
  EXPECT_FALSE(lies_alike(shapes, "v"));
}

/// Lists the other forms of each match, in the order of the graph: "bf16 nchw, f32 nhwc".
std::vector<std::string> forms_of(const std::string& graph, bool narrow) {
  const Network network = network_of(graph);
  const OtherForms forms = other_forms(
      network.model, network.shapes, network.matches, [](const Workload&) { return true; }, narrow);
  std::map<std::size_t, std::string> found;
  for (const MatchedWorkload& matched : network.matches.workloads)
    for (const Match& match : matched.matches) {
      std::string& text = found[match.nodes[0]];
      const auto other = forms.find(&match);
      if (other == forms.end()) continue;
      for (const Workload& each : other->second)
        text += std::string(text.empty() ? "" : ", ") + std::string(name_of(each.conv2d().input)) +
                (has_channels_last(each) ? " nhwc" : " nchw");
    }
  std::vector<std::string> texts;
  for (const auto& [node, text] : found) texts.push_back(text);
  return texts;
}

TEST(Layouts, OfF32OnlyRunsWithADepthwiseConvolutionGain) {
  const std::string head = "input x f32 1x8x6x6\n constant w f32 8x8x1x1\n constant d f32 8x1x3x3\n";
  EXPECT_THAT(forms_of(head + "a = Conv(x, w)\n y = Conv(a, w)\n output y", false), ElementsAre("", ""));
  EXPECT_THAT(forms_of(head + "a = Conv(x, w)\n b = Relu(a)\n s = Sigmoid(b)\n m = Mul(b, s)\n"
                              "y = Conv(m, d) group=8\n e = Exp(y)\n z = Conv(e, w)\n output z",
                       false),
              ElementsAre("f32 nhwc", "f32 nhwc", ""));
  EXPECT_THAT(forms_of(head + "a = Conv(x, w)\n y = Conv(a, d) group=8\n output y", true),
              ElementsAre("bf16 nchw, f32 nhwc, bf16 nhwc", "bf16 nchw, f32 nhwc, bf16 nhwc"));
}

}  // namespace
}  // namespace lehr::testing
