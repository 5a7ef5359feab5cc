// Tests of the BLIS baseline against a library of our own, which stands first in the loader's search
// (LD_LIBRARY_PATH of the ctest test). An installed BLIS is checked in contest_test.cpp, like the other
// libraries.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host_support.h"
#include "measure/vendor/blis/baseline_blis.h"
#include "measure/worker/baselines.h"

namespace lehr {
namespace {

using testing::error_of;
using testing::gemm_of;
using testing::gemm_problem;

TEST(Blis, IsTimedOnlyWhereItIsNamed) {
  EXPECT_THAT(baseline_names(Target::kCpu), ::testing::Contains("blis"));
  EXPECT_THAT(default_baselines(Target::kCpu), ::testing::Not(::testing::Contains("blis")));
  EXPECT_THAT(baseline_names(Target::kCuda), ::testing::Not(::testing::Contains("blis")));
}

TEST(Blis, ComputesOnTheThreadsThatItIsToldAndSaysWhatItRuns) {
  void* const library = dlopen("libblis.so.4", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto threads = reinterpret_cast<std::int64_t (*)()>(dlsym(library, "fake_blis_threads"));
  ASSERT_NE(threads, nullptr) << "another libblis.so.4 was found first";
  const std::unique_ptr<Runner> runner = find_baseline("blis").baseline->make_runner();
  for (const int count : {3, 2}) {
    runner->prepare(gemm_problem(gemm_of(7, 5, 3, 2)), RunSettings{.threads = count});
    EXPECT_EQ(threads(), count);
    const auto checked = runner->check(0);
    ASSERT_TRUE(std::holds_alternative<Checked>(checked)) << std::get<Fault>(checked).failure.text;
    EXPECT_EQ(std::get<Checked>(checked).note, "BLIS 9.8 with kernels for abacus");
  }
  const auto samples = runner->time(0, {.sample_us = 10, .min_samples = 3, .min_total_us = 100});
  EXPECT_GT(std::get<Samples>(samples).us.at(0), 0);
  EXPECT_THAT(blis::kLibrary.describe({}), ::testing::StartsWith("BLIS 9.8 with kernels for abacus"));
}

TEST(Blis, RefusesWhatItHasNoCallFor) {
  const std::unique_ptr<Runner> runner = find_baseline("blis").baseline->make_runner();
  Problem problem = gemm_problem(gemm_of(4, 4, 4));
  problem.text = "gemm m=4 n=4 k=4 c=f16";
  EXPECT_EQ(error_of([&] { runner->prepare(problem, {}); }), "blis has no call for f16 operands");
}

TEST(Blis, AWrongResultIsNoTime) {
  const std::unique_ptr<Runner> runner = find_baseline("blis").baseline->make_runner();
  runner->prepare(gemm_problem(gemm_of(7, 5, 3, 1, 1)), {});  // A by columns: the fake computes nothing
  EXPECT_TRUE(std::holds_alternative<Fault>(runner->check(0)));
}

}  // namespace
}  // namespace lehr
