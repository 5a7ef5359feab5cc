// Tests of the times of a network's layers, from profiles with the names that engines give to nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apply/layers.h"
#include "apply/report.h"
#include "tests/network/graph_text.h"

namespace lehr::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Times = std::vector<onnxruntime::NodeTime>;

MATCHER_P4(Takes, node, op, before, after, "") {
  return arg.node == node && arg.op == op && std::abs(arg.before_us - before) < 1e-9 &&
         std::abs(arg.after_us - after) < 1e-9;
}

/// Returns the layers of a network all of whose matches are kernels: before in 200 us, after in 100 us.
std::vector<Layer> layers(const Network& network, const Times& before, const Times& after) {
  std::vector<Replacement> all;
  for (const MatchedWorkload& matched : network.matches.workloads)
    for (const Match& match : matched.matches) all.push_back({&match, matched.workload, 1});
  const std::string bytes = rewrite(network.model, network.shapes, all).bytes;
  EngineVerdict verdict;
  verdict.original_us = 200;
  verdict.rewritten_us = 100;
  verdict.original_nodes = before;
  verdict.rewritten_nodes = after;
  return layers_of(network, network.matches, all,
                   parse_onnx(std::make_shared<const std::string>(bytes), "rewritten"), verdict);
}

TEST(Layers, AreMatchesAndNodesAndWhatTheEngineAdds) {
  Network network = network_of(R"(
    input x f32 1x8x16x16
    constant w f32 8x8x3x3
    a = Conv(x, w) pads=1,1,1,1
    b = Relu(a)
    c = Conv(b, w) pads=1,1,1,1
    d = Relu(c)
    t = Transpose(d) perm=0,2,3,1
    y = Hardmax(t)
    output y
  )");
  network.model.nodes[2].name = "Conv_2";
  const Times after = {{"Transpose", "Transpose", 5},
                       {"b", "Fused", 20},
                       {"d", "Fused", 10},
                       {"Transpose_2", "Transpose", 5},
                       {"Hardmax_3", "Hardmax", 10}};
  for (const char* name : {"Conv_2", "Conv_2_token_7", "fused Conv_2", "d_nchwc", "Conv_2/ConvFusion/"}) {
    const std::vector<Layer> found = layers(network,
                                            {{"b_nchwc", "Conv", 60},
                                             {"ReorderOutput", "ReorderOutput", 10},
                                             {name, "FusedConv", 20},
                                             {"Transpose_4", "Transpose", 4},
                                             {"Hardmax_5", "Hardmax", 6}},
                                            after);
    ASSERT_THAT(found, ElementsAre(Takes("a", "Conv", 120, 40), Takes("Conv_2", "Conv", 40, 20),
                                   Takes("t", "Transpose", 8, 10), Takes("y", "Hardmax", 12, 20),
                                   Takes("", "ReorderOutput", 20, 0), Takes("", "Transpose", 0, 10)))
        << name;
    EXPECT_TRUE(found[0].kernel && found[0].workload.starts_with("conv2d ") && !found[3].kernel);
  }
  EXPECT_THAT(layers(network, {}, after), IsEmpty());
}

TEST(Layers, OfAnUnknownNameAreWhatTheNextOneReads) {
  const Network network = network_of(R"(
    input x f32 16x16
    constant w f32 16x16
    constant v f32 16
    a = MatMul(x, w)
    b = Add(a, v)
    c = Relu(b)
    d = Hardmax(c)
    e = Mul(d, v)
    f = MatMul(e, w)
    output f
  )");
  const Times after = {
      {"c", "Fused", 30}, {"Hardmax_1", "Hardmax", 10}, {"Mul_2", "Mul", 5}, {"f", "Fused", 55}};
  Times before = {
      {"a", "MatMul", 50}, {"BiasRelu", "BiasRelu", 20}, {"Hardmax_3", "Hardmax", 10}, {"f", "MatMul", 20}};
  EXPECT_THAT(layers(network, before, after),
              ElementsAre(Takes("a", "MatMul", 140, 30), Takes("d", "Hardmax", 20, 10),
                          Takes("e", "Mul", 0, 5), Takes("f", "MatMul", 40, 55)));
  // A profile of two such nodes behind each other does not say which of them took how long.
  before[2] = {"HardmaxMul_token_3", "HardmaxMul", 10};
  EXPECT_THAT(layers(network, before, after),
              ElementsAre(Takes("a", "MatMul", 100, 30), Takes("d", "Hardmax", 0, 10),
                          Takes("e", "HardmaxMul", 20, 5), Takes("f", "MatMul", 40, 55),
                          Takes("", "BiasRelu", 40, 0)));
}

TEST(Layers, AreToldWithTheLongestFirst) {
  Applied applied;
  applied.with_kernels = applied.replaced = 1;
  applied.layers = {
      {"short", "Add", "", false, 1, 2}, {"", "Cast", "", false, 0, 3}, {"gone\x1b", "Mul", "", false, 4, 0}};
  for (int i = 0; i < 9; ++i) applied.layers.push_back({"conv", "Conv", "conv2d", true, 3000, 1500});
  EXPECT_THAT(report_text(applied), HasSubstr("\nlayer              before      after\n"
                                              "conv      Conv  3000.0 us  1500.0 us  2.00x  kernel\n"));
  EXPECT_THAT(report_text(applied), HasSubstr("\ngone?     Mul     4.00 us          -      -\n"
                                              "2 others          1.00 us    5.00 us  0.20x\n"));
  const nlohmann::json layer = to_json(applied)["layers"][1];
  EXPECT_TRUE(layer["node"].is_null() && layer["workload"].is_null() && layer["operator"] == "Cast");
}

}  // namespace
}  // namespace lehr::testing
