// Tests of a dimension with a range of sizes: which parts of a network are a range of rows.
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
  input x f32 Nx4x16
  input i f32 Nx8x6x6
  constant w f32 16x32
  constant b f32 32
  constant v f32 16x16
  constant f f32 8x8x3x3
  constant fixed f32 4x16
)";

Network network_of_sizes(const std::string& nodes, std::int64_t most,
                         const std::vector<std::int64_t>& smaller) {
  Network network;
  network.model = onnx_model(kTensors + nodes);
  network.shapes = infer_shapes(network.model, {{{"N", most}}, {}});
  for (const std::int64_t size : smaller)
    network.smaller.push_back(infer_shapes(network.model, {{{"N", size}}, {}}));
  network.matches = matches_of(network);
  return network;
}

std::vector<std::string> texts(const Network& network) {
  std::vector<std::string> all;
  for (const MatchedWorkload& matched : network.matches.workloads) {
    const std::string text = to_text(matched.workload);
    all.push_back(text.substr(0, text.find(" batch=")));
  }
  return all;
}

TEST(RangedMatches, ProductsOfWhichTheRowsAloneVaryAreRanges) {
  const Network network = network_of_sizes("p = MatMul(x, w)\nq = Add(p, b)\ny = Relu(q)\n", 8, {1, 2, 4, 7});
  EXPECT_THAT(texts(network), ElementsAre("gemm m=4..32 n=32 k=16"));
  EXPECT_THAT(to_text(network.matches.workloads[0].workload), HasSubstr("epilogue=bias+relu"));
  EXPECT_THAT(network.matches.gaps, IsEmpty());
}

TEST(RangedMatches, WhatDoesNotVaryIsAsItWas) {
  const Network network = network_of_sizes("p = MatMul(fixed, v)\ny = MatMul(x, v)\n", 3, {1, 2});
  EXPECT_THAT(texts(network), ElementsAre("gemm m=4..12 n=16 k=16", "gemm m=4 n=16 k=16"));
}

// Kernels of row expressions take any number of rows, but where several rows read one line.
TEST(RangedMatches, RowExpressionsAreThoseOfTheMostRows) {
  const std::string inputs = "input k f32 Nx4x64x64\ninput l f32 Nx1x1x64\ninput o f32 1x1x64x64\n";
  const auto softmax_of = [&](const std::string& mask) {
    const Network network =
        network_of_sizes(inputs + "a = Add(k, " + mask + ")\ny = Softmax(a)\noutput y\n", 8, {1, 4});
    EXPECT_THAT(network.matches.gaps, IsEmpty());
    const std::string text =
        network.matches.workloads.empty() ? "none" : to_text(network.matches.workloads[0].workload);
    return text.substr(0, text.find(" out="));
  };
  EXPECT_EQ(softmax_of("o"), "rowwise m=2048 n=64 in=x0:f32,x1:f32:column%64");
  EXPECT_EQ(softmax_of("l"), "none");
}

TEST(RangedMatches, WhatElseVariesIsAGap) {
  const Network products = network_of_sizes("t = Transpose(x) perm=0,2,1\ny = MatMul(x, t)\n", 8, {1, 4});
  EXPECT_THAT(products.matches.workloads, IsEmpty());
  ASSERT_THAT(products.matches.gaps, SizeIs(1));
  EXPECT_THAT(products.matches.gaps[0].reason, HasSubstr("more of it varies than its rows"));
  EXPECT_THAT(network_of_sizes("y = Conv(i, f)\n", 2, {1}).matches.gaps, SizeIs(1));
}

// Only the rows vary, and yet no kernel takes their number: A by columns, products beside each other.
TEST(RangedMatches, WhatNoKernelOfAnyRowsServesIsAGap) {
  EXPECT_THAT(network_of_sizes("input z f32 16xN\ny = Gemm(z, w) transA=1\n", 8, {1, 4}).matches.gaps,
              SizeIs(1));
  const Network batched =
      network_of_sizes("input z f32 4xNx16\nconstant e f32 4x16x8\ny = MatMul(z, e)\n", 8, {1, 4});
  EXPECT_THAT(batched.matches.workloads, IsEmpty());
  EXPECT_THAT(batched.matches.gaps, SizeIs(1));
}

// A size at which nothing is known of a match removes it, whatever the ends of the range say.
TEST(RangedMatches, SizesBetweenTheEndsCount) {
  const char* const kNodes = R"(
    constant shape s64 2 = -1 16
    r = Reshape(x, shape)
    y = MatMul(r, w)
  )";
  EXPECT_THAT(texts(network_of_sizes(kNodes, 8, {1, 2, 4, 7})), ElementsAre("gemm m=4..32 n=32 k=16"));
  Network odd = network_of_sizes(kNodes, 8, {1});
  odd.smaller.push_back(infer_shapes(odd.model, {{}, {}}));  // as if it were not known there
  EXPECT_THAT(matches_of(odd).workloads, IsEmpty());
}

}  // namespace
}  // namespace lehr::testing
