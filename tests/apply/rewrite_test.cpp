// Tests of a rewritten network: what it keeps, and which files it needs beside it.
#include "apply/rewrite.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/network/graph_text.h"
#include "tests/network/model_folders.h"

namespace lehr::testing {
namespace {

using ::testing::HasSubstr;

struct Folders : ModelFolders {
  /// Returns the files that a model with this graph needs beside it, or the sentence that refuses it.
  std::string files(const std::string& graph) const {
    try {
      const OnnxModel it = model(graph);
      const RewrittenModel rewritten = rewrite(it, infer_shapes(it, {}), {});
      EXPECT_EQ(rewritten.external, external_files(it));
      std::string text;
      for (const auto& [match, file] : rewritten.external)
        text += match + "=" + file.filename().string() + " ";
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
  const Matches matches = matches_of(model, shapes);
  ASSERT_EQ(matches.workloads.size(), 1u);
  EXPECT_EQ(rewrite(model, shapes, {}).bytes, *model.bytes);
  const Replacement all[] = {{&matches.workloads[0].matches[0], matches.workloads[0].workload, 2}};
  const RewrittenModel rewritten = rewrite(model, shapes, all);
  EXPECT_EQ(rewritten.replaced, 1u);
  EXPECT_TRUE(rewritten.kept.empty());
  const OnnxModel again = parse_onnx(std::make_shared<std::string>(rewritten.bytes), "it");
  ASSERT_EQ(again.nodes.size(), 2u);
  EXPECT_EQ(again.nodes[0].op, fused_operator(DType::kF32));
  EXPECT_EQ(again.nodes[0].whole("threads", 0), 2);
  EXPECT_EQ(again.nodes[1].record, model.nodes[2].record);
  EXPECT_EQ(again.constants.size(), 3u);  // a constant that nobody read before is not ours to drop
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
  const MatchedWorkload& matched = network.matches.workloads.at(0);
  const Replacement replacement = {&matched.matches[0], matched.workload, 1, false, 1};
  const RewrittenModel rewritten = rewrite(network.model, network.shapes, {&replacement, 1});
  ASSERT_EQ(rewritten.replaced, 1u);
  const OnnxModel model = parse_onnx(std::make_shared<const std::string>(rewritten.bytes), "it");
  std::vector<std::string_view> nodes, constants;
  for (const OnnxNode& node : model.nodes) nodes.push_back(node.outputs[0]);
  for (const OnnxTensor& constant : model.constants) constants.push_back(constant.name);
  EXPECT_THAT(nodes, ::testing::ElementsAre("b", "unread")) << "what nothing read before stays";
  EXPECT_THAT(constants, ::testing::UnorderedElementsAre("b.filter", "b.bias"));
}

/// Returns the network's only match as a node in an ONNX file; `kept` is the sentence that says why it is
/// kept.
OnnxModel rewritten(const Network& network, std::string& kept, const NodeForm& form = {}) {
  const MatchedWorkload& matched = network.matches.workloads.at(0);
  const Replacement replacement = {&matched.matches[0], matched.workload, 3, false, 1};
  const RewrittenModel rewritten = rewrite(network.model, network.shapes, {&replacement, 1}, form);
  for (const KeptMatch& each : rewritten.kept) kept += each.reason;
  return parse_onnx(std::make_shared<const std::string>(rewritten.bytes), "it");
}

TEST(Rewrite, ANodeSaysWhatItIsToThePlugIn) {
  const Network network = network_of(R"(
    input x f32 2x3x16
    input r f32 2x3x8
    constant w f32 16x8
    p = MatMul(x, w)
    y = Add(p, r)
    output y
  )");
  std::string kept;
  const OnnxModel model = rewritten(network, kept, {.library = "own"});
  ASSERT_EQ(model.nodes.size(), 1u) << kept;
  const OnnxNode& node = model.nodes[0];
  EXPECT_EQ(node.domain, kFusedDomain);
  EXPECT_EQ(node.op, "Fused");
  EXPECT_THAT(node.inputs, ::testing::ElementsAre("x", "w", "r"));
  EXPECT_EQ(node.whole("version", 0), 4);
  EXPECT_EQ(node.text("library", ""), "own");
  EXPECT_EQ(node.text("workload", ""), to_text(network.matches.workloads[0].workload));
  EXPECT_EQ(node.whole("threads", 0), 3);
  EXPECT_THAT(node.wholes("shapes"), ::testing::ElementsAre(3, 2, 3, 16, 2, 16, 8, 3, 2, 3, 8));
  EXPECT_THAT(node.wholes("output_shapes"), ::testing::ElementsAre(3, 2, 3, 8));
  EXPECT_EQ(node.attributes.size(), 6u);
}

// The product reads what the row expression makes first, and stood before its last node.
TEST(Rewrite, ARowExpressionMakesSeveralValuesBeforeTheyAreRead) {
  const Network network = network_of(R"(
    input x f32 4x16x32
    constant w f32 32x8
    constant v f32 32x8
    a = Abs(x)
    p = MatMul(a, w)
    m = ReduceMax(a) axes=-1,
    e = Exp(m)
    y = Sub(p, e)
    output y
  )");
  std::vector<Replacement> all;
  for (const MatchedWorkload& matched : network.matches.workloads)
    for (const Match& match : matched.matches) all.push_back({&match, matched.workload, 1});
  const std::string bytes = rewrite(network.model, network.shapes, all).bytes;
  const OnnxModel model = parse_onnx(std::make_shared<const std::string>(bytes), "it");
  ASSERT_EQ(model.nodes.size(), 3u);
  const OnnxNode& rows = model.nodes[0];
  EXPECT_EQ(rows.op, "Fused");
  EXPECT_THAT(rows.inputs, ::testing::ElementsAre("x"));
  EXPECT_THAT(rows.outputs, ::testing::ElementsAre("a", "e"));
  EXPECT_THAT(rows.wholes("shapes"), ::testing::ElementsAre(3, 4, 16, 32));
  EXPECT_THAT(rows.wholes("output_shapes"), ::testing::ElementsAre(3, 4, 16, 32, 3, 4, 16, 1));
  EXPECT_THAT(model.nodes[1].outputs, ::testing::ElementsAre("p"));
  EXPECT_EQ(model.nodes[2].op, "Sub");
}

TEST(Rewrite, ANodeMakesValuesOfOneType) {
  Network network = network_of("input x f32 64x32\nn = Neg(x)\ny = Cast(n) to=16\noutput n\noutput y\n");
  ASSERT_EQ(network.matches.workloads.size(), 1u);
  leave_out_unwritten(network, network.matches);
  EXPECT_THAT(network.matches.workloads, ::testing::IsEmpty());
  EXPECT_EQ(network.matches.gaps.at(0).reason, "it makes f32 and bf16, and a node makes one type");
}

TEST(Rewrite, WhatVariesAlongARangeIsAnyThere) {
  const auto sizes_of = [](const std::string& graph, std::int64_t other) {
    const std::string text = "input x f32 BxTx16\nconstant w f32 16x8\n" + graph + "\noutput y";
    const OnnxModel model = onnx_model(text);
    Network network = {onnx_model(text), infer_shapes(model, {{{"B", 2}, {"T", 3}}, {}}), {}, {}};
    network.shapes = infer_shapes(network.model, {{{"B", 2}, {"T", 3}}, {}});
    network.matches = matches_of(network.model, network.shapes);
    const GraphShapes highest = infer_shapes(network.model, {{{"B", other}, {"T", 3}}, {}});
    std::string said;
    const OnnxModel written = rewritten(network, said, {.other_end = &highest});
    for (const OnnxNode& node : written.nodes)
      if (node.domain == kFusedDomain)
        said += fmt::format("{} -> {}", fmt::join(node.wholes("shapes"), " "),
                            fmt::join(node.wholes("output_shapes"), " "));
    return said;
  };
  EXPECT_EQ(sizes_of("y = MatMul(x, w)", 8), "3 0 3 16 2 16 8 -> 3 0 3 8");
  EXPECT_EQ(sizes_of("y = MatMul(x, w)", 2), "3 2 3 16 2 16 8 -> 3 2 3 8");
  EXPECT_EQ(sizes_of("t = Transpose(x) perm=1,0,2\ny = MatMul(t, w)", 8), "3 3 0 16 2 16 8 -> 3 3 0 8");
  const std::string turned = "constant to s64 2 = -1 16\nf = Reshape(x, to)\nconstant v f32 48x4\n";
  EXPECT_EQ(sizes_of(turned + "y = MatMul(f, w)", 8), "2 0 16 2 16 8 -> 2 0 8");
}

TEST(Rewrite, AKernelsFilterIsAConstantForTheEngineToo) {
  const auto kept_of = [](const std::string& weights) {
    const Network network = network_of("input x f32 4x16\nconstant v f32 8x16\nconstant s f32 -\n" + weights +
                                       "\ny = MatMul(x, w)\noutput y");
    std::string kept;
    rewritten(network, kept);
    return kept;
  };
  EXPECT_EQ(kept_of("w = Transpose(v)"), "");
  EXPECT_EQ(kept_of("constant q u8 16x8\nd = DequantizeLinear(q, s)\nw = Mul(d, s)"),
            "'w' is made by DequantizeLinear, and kernels take constants there");
}

}  // namespace
}  // namespace lehr::testing
