// The oneDNN baseline against our reference, on problems as a session poses them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "measure/vendor/onednn/baseline_onednn.h"
#include "tests/support/problem_for.h"
#include "tune/task.h"

namespace lehr {
namespace {

using ::testing::AnyOf;

/// `texts` one after the other; what the library ran is one of `ways`.
void expect_agreement(std::initializer_list<const char*> texts, const testing::Matcher<std::string>& ways) {
  for (const char* text : texts) {
    SCOPED_TRACE(text);
    const std::unique_ptr<Runner> runner = onednn::kLibrary.baselines[0].make_runner();
    try {
      runner->prepare(problem_for(parse_workload(text), 3), RunSettings{});
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kEnvironment) GTEST_SKIP() << error.what();
      FAIL() << error.what();
    }
    const auto checked = runner->check(0);
    ASSERT_TRUE(std::holds_alternative<Checked>(checked)) << std::get<Fault>(checked).failure.text;
    EXPECT_THAT(std::get<Checked>(checked).note, ways);
    const auto samples = runner->time(0, {.sample_us = 10, .min_samples = 3, .min_total_us = 100});
    ASSERT_TRUE(std::holds_alternative<Samples>(samples));
    EXPECT_GT(std::get<Samples>(samples).us.at(0), 0);
  }
}

TEST(OneDnnConv2d, AgreesWithTheReferenceAndSaysWhatItRan) {
  expect_agreement(
      {"conv2d h=7 w=9 c=5 k=7 r=3 s=3 pad=1", "conv2d n=2 h=11 w=13 c=3 k=10 r=7 s=7 stride=2 pad=3",
       "conv2d h=9 w=21 c=2 k=3 r=2 s=5 stride=3x1 pad=0x2x1x4 dilation=2x1",
       "conv2d n=2 h=10 w=10 c=12 k=18 r=3 s=3 pad=1 groups=3",
       "conv2d h=13 w=12 c=16 k=16 r=3 s=3 stride=2 pad=1 groups=16",
       "conv2d n=2 h=8 w=6 c=4 k=6 r=3 s=3 pad=1 layout=nhwc",
       "conv2d n=2 h=8 w=6 c=4 k=6 r=3 s=3 pad=1 groups=2 layout=nhwc",
       "conv2d h=28 w=28 c=32 k=32 r=3 s=3 pad=1"},
      AnyOf("plain direct", "blocked direct", "plain winograd", "blocked winograd"));
}

TEST(OneDnnConstantB, AgreesWithTheReferenceAndSaysWhatItRan) {
  expect_agreement({"gemm m=7 n=33 k=50 b=f32:row:constant", "gemm m=1 n=130 k=65 b=f32:column:constant",
                    "gemm m=64 n=96 k=128 a=f32:column b=f32:row:constant alpha=-0.5",
                    "gemm m=5 n=17 k=9 batch=3 b=f32:column:constant",
                    "gemm m=12 n=40 k=20 b=f32:row:constant c=f32:column"},
                   // Version 3 is called for its sgemm alone, which needs no name.
                   AnyOf("packed matmul", "packed inner product", "sgemm", ""));
}

TEST(OneDnnConv2d, IsForF32Only) {
  const std::unique_ptr<Runner> runner = onednn::kLibrary.baselines[0].make_runner();
  const Problem problem = problem_for(parse_workload("conv2d h=4 w=4 c=2 k=2 r=1 s=1 x=f16 f=f16 y=f16"), 3);
  try {
    runner->prepare(problem, RunSettings{});
    FAIL() << "prepared";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUser);
    EXPECT_STREQ(error.what(), "onednn is called for f32 only, not f16");
  }
}

}  // namespace
}  // namespace lehr
