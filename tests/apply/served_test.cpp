// Tests of which parts of a network have families, and why the rest has no kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apply/served.h"
#include "tests/network/graph_text.h"
#include "tests/templates/cpu_problems.h"

namespace lehr::testing {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST(Served, WorkloadsHaveTheirShareAndFamiliesOrAReason) {
  const Network network = network_of(R"(
    input x f32 8x16
    constant w f32 16x32
    input a f64 8x16
    constant b f64 16x32
    input t f32 1x4x8x8
    constant f f32 4x4x3x3
    y = MatMul(x, w)
    z = MatMul(a, b)
    c = ConvTranspose(t, f)
    output y
    output z
    output c
  )");
  const std::vector<ServedWorkload> served = served_by(network.matches, cpu_limits(32, 1));
  ASSERT_EQ(served.size(), 2u);
  for (const ServedWorkload& each : served) {
    EXPECT_EQ(each.share, 0.5);
    if (to_text(each.matched->workload).find("f64") == std::string::npos) {
      EXPECT_THAT(each.families, Contains("gemm_cpu"));
      EXPECT_EQ(each.unserved, "");
    } else {
      EXPECT_THAT(each.families, IsEmpty());
      EXPECT_NE(each.unserved, "");
    }
  }
}

// `model` and `tune` count what `apply` can write. f64 has no node: its kernels are called by programs.
TEST(Served, AMatchThatCannotBeWrittenIsAGapAndNoWork) {
  const Network network = network_of(R"(
    input x f32 1x3x8x8
    constant w f32 4x3x3x3
    constant v f32 4x4x3x3
    constant huge f32 4x1x1 = 12582912 12582912 12582912 12582912
    input a f64 8x16
    constant b f64 16x32
    c = Conv(x, w) pads=1,1,1,1
    d = Add(c, huge)
    e = Sub(d, huge)
    y = Conv(e, v) pads=1,1,1,1
    z = MatMul(a, b)
    output y
    output z
  )");
  ASSERT_EQ(network.matches.workloads.size(), 3u);
  const Matches matches = served_matches(network, cpu_limits(32, 1));
  std::vector<std::string_view> outputs;
  for (const MatchedWorkload& matched : matches.workloads) outputs.push_back(matched.matches.at(0).output);
  EXPECT_THAT(outputs, UnorderedElementsAre("y", "z"));
  ASSERT_EQ(matches.gaps.size(), 1u);
  EXPECT_EQ(matches.gaps[0].reason, "what makes 'e' rounds by a summand that is taken back");
  EXPECT_EQ(matches.gaps[0].node, 0u);
  EXPECT_EQ(matches.gaps[0].flops, flops_of(network.matches.workloads[1]));
}

}  // namespace
}  // namespace lehr::testing
