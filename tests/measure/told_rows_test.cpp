// Tests that kernels which take the number of rows are checked with fewer rows than they are timed with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measuring.h"

namespace lehr::testing {
namespace {

/// Returns a kernel with `body`, which sees the number of rows as `told`.
Source told(const std::string& body, std::int64_t most = kSize) {
  Source result = source("const long told = *(const long*)params[3]; " + body);
  result.most_rows = most;
  return result;
}

TEST_F(Measuring, AKernelIsToldTheNumberOfRows) {
  LocalMeasurer measurer = make();
  measurer.prepare(square_problem());
  const std::vector<Source> right = {told("rows(a, b, c, 0, told);")};
  const Outcome outcome = measurer.measure(right, {}).front();
  EXPECT_TRUE(std::holds_alternative<Timing>(outcome)) << std::get<Failure>(outcome).text;
}

TEST_F(Measuring, AKernelThatComputesMoreRowsThanItIsToldIsFoundOut) {
  LocalMeasurer measurer = make();
  measurer.prepare(square_problem());
  expect_failure_then_recovery(measurer, told("rows(a, b, c, 0, N);"), FailureKind::kWrongResult,
                               "of 37 rows instead of 48: wrote output behind the last of 37 rows");
}

TEST_F(Measuring, AKernelWhoseLastRowIsWrongWhereTilesHaveARestIsFoundOut) {
  LocalMeasurer measurer = make();
  measurer.prepare(square_problem());
  expect_failure_then_recovery(measurer,
                               told("rows(a, b, c, 0, told); if (told % 2 != 0) c[told * N - 1] += 1;"),
                               FailureKind::kWrongResult, "of 37 rows instead of 48: ");
}

TEST_F(Measuring, AKernelOfFewerRowsThanThereAreDoesNotRun) {
  LocalMeasurer measurer = make();
  measurer.prepare(square_problem());
  expect_failure_then_recovery(measurer, told("rows(a, b, c, 0, told);", kSize - 1), FailureKind::kLaunch,
                               "takes 47 rows at most, not 48");
}

TEST(FirstRows, AreComparedWhereAKernelIsToldOfFewer) {
  const Problem all = gemm_problem(gemm_of(9, 4, 3));
  EXPECT_EQ(fewer_rows(all), 7);
  EXPECT_EQ(fewer_rows(gemm_problem(gemm_of(1, 4, 3))), 0);
  EXPECT_EQ(fewer_rows(gemm_problem(gemm_of(2, 4, 3))), 1);
  const Argument& output = all.arguments[2];
  std::vector<unsigned char> got = output.expected;
  std::fill(got.begin() + 7 * 4 * 4, got.end(), kPoisonByte);
  EXPECT_EQ(compare_output(output, "", got.data(), 1, 7 * 4).fault, "");
  EXPECT_THAT(compare_output(output, "", got.data(), 1, 7 * 4 + 1).fault,
              ::testing::HasSubstr("left 1 of 29 output elements"));
}

TEST(FirstRows, EndWithOneWhoseResultIsExpected) {
  Problem some = asked_problem({gemm_of(300, 64, 64), {}}, 1);
  some.full_flops = 1e5;
  make(some, 1);
  const std::vector<std::int64_t>& indices = some.arguments[2].indices;
  ASSERT_FALSE(indices.empty());
  const std::int64_t rows = fewer_rows(some);
  EXPECT_LT(rows, 300);
  EXPECT_NE(std::ranges::find(indices, (rows - 1) * 64), indices.end()) << rows;
}

}  // namespace
}  // namespace lehr::testing
