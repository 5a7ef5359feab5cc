// What of a network has families, and why the rest has none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apply/served.h"
#include "tests/network/graph_text.h"
#include "tests/templates/cpu_problems.h"

namespace lehr::testing {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

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
  const std::vector<ServedWorkload> served = served_by(network.places, cpu_limits(32, 1));
  ASSERT_EQ(served.size(), 2u);
  for (const ServedWorkload& each : served) {
    EXPECT_EQ(each.share, 0.5);
    if (to_text(each.placed->workload).find("f64") == std::string::npos) {
      EXPECT_THAT(each.families, Contains("gemm_cpu"));
      EXPECT_EQ(each.unserved, "");
    } else {
      EXPECT_THAT(each.families, IsEmpty());
      EXPECT_NE(each.unserved, "");
    }
  }
}

}  // namespace
}  // namespace lehr::testing
