// Tests of the table of targets on this machine.
#include "measure/worker/backends.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host_support.h"
#include "measure/host/cpu_device.h"

namespace lehr {
namespace {

TEST(Backends, AreOnePerTargetInTheTargetsOrder) {
  ASSERT_EQ(backends().size(), kTargets.size());
  for (const Target target : kTargets) {
    const Backend& backend = *backends()[target.index()];
    EXPECT_EQ(backend.target, target);
    EXPECT_EQ(&backend_of(target), &backend);
    EXPECT_NE(backend.compiler == nullptr, backend.worker_compiler == nullptr) << "one of the two compiles";
    EXPECT_EQ(backend.peak_gflops == nullptr, backend.read_gbytes == nullptr);
    EXPECT_EQ(backend.peak_gflops == nullptr, backend.burst_gflops == nullptr);
    EXPECT_THAT(backend.caches, ::testing::AnyOf("warm", "rotating"));
    EXPECT_NE(backend.make_runner(), nullptr);
    EXPECT_FALSE(backend.parts.empty());
  }
}

TEST(Backends, BeginWithOneWhoseDeviceIsAlwaysThere) {
  std::string why_not;
  const std::optional<Device> device = backends().front()->find({.threads = 1}, why_not);
  ASSERT_TRUE(device) << why_not;
  EXPECT_EQ(device->limits.target, backends().front()->target);
  EXPECT_EQ(device->limits.cores, 1);
  EXPECT_EQ(device->limits.peak_gflops_f32, 0);
}

TEST(Backends, TellHowFastTheHostCopies) {
  EXPECT_THAT(backends().front()->parts.front().describe({}),
              ::testing::ContainsRegex("copies [0-9.]+ GB/s .[0-9.]+ streaming. on one thread, [0-9.]+ GB/s "
                                       ".[0-9.]+ streaming. on all"));
}

TEST(Backends, SayWhyADeviceIsMissing) {
  std::string why_not;
  EXPECT_FALSE(backend_of(Target::kCuda).find({.ordinal = 63}, why_not));
  EXPECT_NE(why_not, "");
}

TEST(Backends, MakeTheCompilerOfADevice) {
  const auto compiler = make_compiler(cpu_device(1, false).limits, {});
  EXPECT_THAT(compiler->identity(), ::testing::HasSubstr("-march=native"));
  // The worker process reports a library that is not there, as the user sees it.
  Limits limits;
  limits.target = Target::kCuda;
  limits.arch = "sm_1";
  EXPECT_NE(testing::error_of([&] { make_compiler(limits, {.program = LEHR_MEASURE_WORKER}); }),
            "nothing was thrown");
}

TEST(Backends, ContestsTakeShortTurnsWhereRoundsAreCalmOrNot) {
  const ContestOptions host = backend_of(Target::kCpu).contest, gpu = backend_of(Target::kCuda).contest;
  EXPECT_LT(host.block_us, gpu.block_us);
  EXPECT_GT(host.calm_within, 1);
  EXPECT_EQ(gpu.calm_within, 0);
}

}  // namespace
}  // namespace lehr
