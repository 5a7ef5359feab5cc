// What a rewritten network keeps, and which files it needs beside it.
#include "apply/rewrite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "tests/network/graph_text.h"
#include "tests/network/model_folders.h"

namespace lehr::testing {
namespace {

using ::testing::HasSubstr;

struct Folders : ModelFolders {
  /// The files that a model with this graph needs beside it, or the sentence that refuses it.
  std::string files(const std::string& graph) const {
    try {
      const OnnxModel it = model(graph);
      const RewrittenModel rewritten = rewrite(it, infer_shapes(it, {}), {});
      EXPECT_EQ(rewritten.external, external_files(it));
      std::string text;
      for (const auto& [place, file] : rewritten.external)
        text += place + "=" + file.filename().string() + " ";
      return text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUser);
      return error.what();
    }
  }
};

TEST(Rewrite, NamesEveryFileThatTheModelNeeds) {
  const Folders folders;
  const auto constant = [](const auto&... of) { return bytes_field(5, Folders::tensor(of...)); };
  EXPECT_EQ(
      folders.files(constant("weights", "", "", 4) + constant("./below//w", "8", "8", 1, OnnxType::kS64) +
                    constant("good_link", "", "", 4)),
      "below/w=w good_link=weights weights=weights ");
  for (const auto& [type, count] : {std::pair(OnnxType::kF32, 5),
                                    {OnnxType::kS64, 3},
                                    {OnnxType::kF16, 9},
                                    {OnnxType::kBool, 17},
                                    {OnnxType::kF64, 3},
                                    {OnnxType(22), 33},
                                    {OnnxType(15), 2}}) {
    EXPECT_THAT(folders.files(constant("weights", "", "", count, type)), HasSubstr("ends before"))
        << name_of(type);
    EXPECT_THAT(folders.files(constant("weights", "", "", count - 1, type)), "weights=weights ")
        << name_of(type);
    EXPECT_THAT(folders.files(constant("weights", "", "3", count - 1, type)), HasSubstr("has 3 bytes"));
  }
  EXPECT_THAT(folders.files(constant("weights", "12", "8", 1, OnnxType(99))), HasSubstr("ends before"));
  EXPECT_THAT(folders.files(constant("weights", "17", "", 0)), HasSubstr("ends before"));
  for (const char* wrong : {"pipe", "below", "link", "nowhere", "../outside"})
    EXPECT_THAT(folders.files(constant(wrong, "", "", 4)), HasSubstr("'w'")) << wrong;
}

TEST(Rewrite, NamesTheFilesOfAttributesAndSubgraphs) {
  const Folders folders;
  const auto node = [](const std::string& attribute) {
    return bytes_field(1, bytes_field(2, "c") + bytes_field(4, "Constant") + bytes_field(5, attribute));
  };
  const auto in_graph = [](const std::string& location) {
    return bytes_field(6, bytes_field(5, Folders::tensor(location, "", "", 4)));
  };
  EXPECT_EQ(
      folders.files(node(bytes_field(1, "value") + bytes_field(5, Folders::tensor("weights", "", "", 4)))),
      "weights=weights ");
  EXPECT_EQ(folders.files(node(in_graph("below/w"))), "below/w=w ");
  EXPECT_EQ(folders.files(node(bytes_field(6, node(in_graph("below/w"))))), "below/w=w ");
  EXPECT_THAT(folders.files(node(in_graph("pipe"))), HasSubstr("a pipe"));
  EXPECT_THAT(folders.files(node(bytes_field(5, Folders::tensor("link", "", "", 4)))),
              HasSubstr("leads elsewhere"));
}

TEST(Rewrite, KeepsWhatItDoesNotReplaceAndIsNotDoneTwice) {
  const OnnxModel model = onnx_model(R"(
    input x f32 1x3x8x8
    constant w f32 4x3x3x3
    constant b f32 4
    constant unread f32 4
    value a f32 1x4x8x8
    a = Conv(x, w, b) pads=1,1,1,1
    y = Relu(a)
    z = Softmax(y)
    output z
  )");
  const GraphShapes shapes = infer_shapes(model, {});
  const NetworkPlaces places = places_of(model, shapes);
  ASSERT_EQ(places.workloads.size(), 1u);
  EXPECT_EQ(rewrite(model, shapes, {}).bytes, *model.bytes);
  const Replacement all[] = {{&places.workloads[0].places[0], places.workloads[0].workload, 2}};
  const RewrittenModel rewritten = rewrite(model, shapes, all);
  EXPECT_EQ(rewritten.replaced, 1u);
  EXPECT_TRUE(rewritten.kept.empty());
  const OnnxModel again = parse_onnx(std::make_shared<std::string>(rewritten.bytes), "it");
  ASSERT_EQ(again.nodes.size(), 2u);
  EXPECT_EQ(again.nodes[0].op, fused_operator(DType::kF32));
  EXPECT_EQ(again.nodes[0].whole("threads", 0), 2);
  EXPECT_EQ(again.nodes[1].record, model.nodes[2].record);
  EXPECT_EQ(again.constants.size(), 3u);  // what nobody has read is not ours to drop
  EXPECT_TRUE(again.between.empty());
  EXPECT_THROW(rewrite(again, infer_shapes(again, {}), all), Error);
}

// ONNX Runtime warns of each constant that nothing reads.
TEST(Rewrite, LeavesNoNodeAndNoConstantThatNothingReads) {
  const Network network = network_of(R"(
    input x f32 1x4x8x8
    constant w f32 4x4x3x3
    constant scale f32 4
    constant bias f32 4
    constant mean f32 4
    constant var f32 4
    i = Identity(w)
    f = Identity(i)
    m = Identity(mean)
    c = Conv(x, f) pads=1,1,1,1
    b = BatchNormalization(c, scale, bias, m, var)
    unread = Identity(x)
    output b f32 1x4x8x8
  )");
  const PlacedWorkload& placed = network.places.workloads.at(0);
  const Replacement replacement = {&placed.places[0], placed.workload, 1, false, 1};
  const RewrittenModel rewritten = rewrite(network.model, network.shapes, {&replacement, 1});
  ASSERT_EQ(rewritten.replaced, 1u);
  const OnnxModel model = parse_onnx(std::make_shared<const std::string>(rewritten.bytes), "it");
  std::vector<std::string_view> nodes, constants;
  for (const OnnxNode& node : model.nodes) nodes.push_back(node.outputs[0]);
  for (const OnnxTensor& constant : model.constants) constants.push_back(constant.name);
  EXPECT_THAT(nodes, ::testing::ElementsAre("b", "unread")) << "what nothing read before stays";
  EXPECT_THAT(constants, ::testing::UnorderedElementsAre("b.filter", "b.bias"));
}

/// Quantized networks whose sums have a constant added in f32.
std::string coded_sum(const std::string& product, const std::string& constant) {
  return R"(
    constant s f32 - = 0.5
    constant z u8 - = 3
    constant w s8 16x8
    constant f s8 16x8x3x3
    constant ws f32 - = 0.125
    constant wz s8 - = 0
    constant b )" +
         constant + R"(
    input x u8 )" +
         product + R"(
    a = Add(p, b)
    y = QuantizeLinear(a, s, z)
    output y
  )";
}
const std::string kCodedConv = R"(1x8x6x6
    dx = DequantizeLinear(x, s, z)
    dw = DequantizeLinear(f, ws, wz)
    p = Conv(dx, dw))";
const std::string kCodedProduct = R"(2x3x16
    dx = DequantizeLinear(x, s, z)
    dw = DequantizeLinear(w, ws, wz)
    p = MatMul(dx, dw))";

/// The plan of the network's only node.
nlohmann::json plan_of(const Network& network) {
  const PlacedWorkload& placed = network.places.workloads.at(0);
  const Replacement replacement = {&placed.places[0], placed.workload, 1, false, 1};
  const RewrittenModel rewritten = rewrite(network.model, network.shapes, {&replacement, 1});
  EXPECT_EQ(rewritten.replaced, 1u) << (rewritten.kept.empty() ? "" : rewritten.kept[0].reason);
  const OnnxModel model = parse_onnx(std::make_shared<const std::string>(rewritten.bytes), "it");
  return nlohmann::json::parse(model.nodes.back().text("plan", "{}"));
}

TEST(Rewrite, ABiasOfWholeNumbersMayHaveAnyShapeThatGoesWithTheChannels) {
  const auto bias_of = [](const std::string& product, const std::string& constant) {
    const Network network = network_of(coded_sum(product, constant));
    EXPECT_THAT(to_text(network.places.workloads.at(0).workload), HasSubstr("epilogue=dequant+bias+quant"));
    const nlohmann::json plan = plan_of(network);
    for (const auto& node : plan.at("nodes"))
      if (node.at("op") == "Add") return node.at("inputs").at(1);
    return nlohmann::json();
  };
  const nlohmann::json halves = std::vector<float>(16, 0.5F), eight = std::vector<float>(8, 0.5F);
  const auto operand = [](const nlohmann::json& elements, const nlohmann::json& shape) {
    nlohmann::json made = {{"constant", {{"floats", elements}}}};
    if (!shape.is_null()) made["shape"] = shape;
    return made;
  };
  EXPECT_EQ(bias_of(kCodedProduct, "f32 8"), operand(eight, nullptr));
  EXPECT_EQ(bias_of(kCodedProduct, "f32 1x8"), operand(eight, {1, 8}));
  EXPECT_EQ(bias_of(kCodedProduct, "f32 1x1x8"), operand(eight, {1, 1, 8}));
  EXPECT_EQ(bias_of(kCodedConv, "f32 16x1x1"), operand(halves, {16, 1, 1}));
  EXPECT_EQ(bias_of(kCodedConv, "f32 1x16x1x1"), operand(halves, {1, 16, 1, 1}));
}

TEST(Rewrite, NumbersOfAnyRankAndWholeExponentsAreConstantsOfThePlan) {
  const std::string head = "input x f32 4x8\nconstant w f32 8x6\n", tail = "\noutput y\n";
  const std::string gelu = R"(
    constant three s64 - = 3
    constant cubed f32 1x1 = 0.044715
    constant root f32 1 = 0.7978845608
    constant one f32 - = 1
    constant half f32 1x1 = 0.5
    p = MatMul(x, w)
    c = Pow(p, three)
    d = Mul(c, cubed)
    e = Add(p, d)
    g = Mul(e, root)
    t = Tanh(g)
    u = Add(t, one)
    v = Mul(p, u)
    y = Mul(v, half)
  )";
  const Network network = network_of(head + gelu + tail);
  EXPECT_THAT(to_text(network.places.workloads.at(0).workload), HasSubstr("epilogue=gelu_tanh"));
  const nlohmann::json nodes = plan_of(network).at("nodes");
  EXPECT_EQ(nodes.at(1).at("inputs"), nlohmann::json::parse(R"([2, {"constant": {"f": 3}}])"));
  EXPECT_EQ(nodes.at(1).at("types"), nlohmann::json::parse(R"({"T": "f32", "T1": "f32"})"));
}

TEST(Rewrite, WholeNumbersOfTwoTypesHaveNoOperatorOfTheEngine) {
  const Network network = network_of(R"(
    constant s f32 - = 0.5
    constant z u8 - = 3
    constant w s8 16x8
    constant ws f32 - = 0.125
    constant wz s8 - = 0
    input x u8 4x16
    dx = DequantizeLinear(x, s, z)
    dw = DequantizeLinear(w, ws, wz)
    p = MatMul(dx, dw)
    y = QuantizeLinear(p, s, wz)
    output y
  )");
  std::vector<std::string> operators;
  const nlohmann::json plan = plan_of(network);
  for (const auto& node : plan.at("nodes")) operators.push_back(node.at("op"));
  EXPECT_THAT(operators,
              ::testing::ElementsAre("DequantizeLinear", "DequantizeLinear", "MatMul", "QuantizeLinear"));
}

}  // namespace
}  // namespace lehr::testing
