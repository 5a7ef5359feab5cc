// Tests of the configs with which a tuning begins, and which a product that was never tuned gets.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.h"
#include "templates/catalog.h"
#include "tests/templates/cpu_problems.h"
#include "tune/task.h"

namespace lehr {
namespace {

Limits two_avx2_cores() {
  return testing::cpu_limits(32, 2);
}

std::vector<Config> defaults_of(const Workload& workload) {
  Task task = task_of(workload, {});
  task.device.limits = two_avx2_cores();
  const Candidates candidates = candidates_for(task);
  std::vector<Config> configs;
  for (const Point& point : candidates.defaults) configs.push_back(candidates.space.config_of(point));
  return configs;
}

Config first_default(const std::string& workload) {
  return defaults_of(parse_workload(workload)).at(0);
}

// Each of these once began with a family that is several times slower there, because it stands last in the
// catalogue.
TEST(Defaults, BeginWithTheFamilyThatSuitsTheSizes) {
  EXPECT_EQ(first_default("gemm m=768 n=1500 k=400 b=f32:column").family, "gemm_cpu");
  EXPECT_EQ(first_default("gemm m=2816 n=48 k=1000 b=f32:column").family, "gemm_cpu");
  EXPECT_EQ(first_default("gemm m=4096 n=1 k=4096").family, "gemm_dot_cpu");
  EXPECT_NE(first_default("conv2d h=112 w=112 c=64 k=1 r=3 s=3 pad=1").family, "conv2d_winograd_cpu");
  EXPECT_NE(first_default("conv2d n=64 h=1 w=1 c=256 k=256 r=3 s=3 pad=1").family, "conv2d_winograd_cpu");
  EXPECT_NE(first_default("conv2d h=160 w=160 c=1 k=1792 r=1 s=1 stride=3").family, "conv2d_depthwise_cpu");
}

TEST(Defaults, BeginWithWinogradsWhereItTakesTheFewestProducts) {
  EXPECT_EQ(first_default("conv2d h=28 w=28 c=336 k=240 r=3 s=3 pad=1").family, "conv2d_winograd_cpu");
  EXPECT_EQ(first_default("conv2d n=2 h=104 w=48 c=116 k=24 r=3 s=3").family, "conv2d_winograd_cpu");
  EXPECT_EQ(first_default("conv2d h=137 w=3 c=96 k=232 r=3 s=3 pad=1 layout=nhwc").family,
            "conv2d_winograd_cpu");
}

TEST(Defaults, AreThoseOfTheCatalogueInAnotherOrder) {
  const Workload workload = parse_workload("conv2d h=28 w=28 c=16 k=32 r=3 s=3 pad=1");
  const auto sorted = [](std::vector<Config> configs) {
    std::sort(configs.begin(), configs.end(),
              [](const Config& a, const Config& b) { return to_text(a) < to_text(b); });
    return configs;
  };
  EXPECT_EQ(sorted(defaults_of(workload)),
            sorted(families_for(catalog(), workload, two_avx2_cores()).defaults));
}

TEST(Defaults, ShareOutWhatIsWorthIt) {
  EXPECT_EQ(first_default("gemm m=17 n=1 k=16").at("threads"), 1);
  EXPECT_EQ(first_default("conv2d h=4 w=4 c=8 k=8 r=1 s=1").at("threads"), 1);
  EXPECT_EQ(first_default("gemm m=512 n=512 k=512").at("threads"), 2);
}

// A tuning of it once ended with "lines=30 is not one of 1, 2, 3, ..." behind its search.
TEST(Unfused, IsThereOrSaysThatItIsNotForEachScheduleBehindAPool) {
  Task task = task_of(
      parse_workload("conv2d n=2 h=27 w=27 c=164 k=128 r=1 s=1 layout=nhwc epilogue=bias+relu+maxpool(3)"),
      {});
  task.device.limits = two_avx2_cores();
  const Candidates candidates = candidates_for(task);
  Rng rng(5);
  int pairs = 0, none = 0;
  for (int i = 0; i < 100; ++i)
    (candidates.unfused(candidates.space.config_of(candidates.space.sample(rng))) ? pairs : none)++;
  EXPECT_GT(pairs, 0);
  EXPECT_GT(none, 0);
}

}  // namespace
}  // namespace lehr
