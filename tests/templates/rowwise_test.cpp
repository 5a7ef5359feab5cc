// Kernels of row expressions: right for every expression, shape, type, schedule and number of rows.
//
//   LEHR_ROWS_COUNT=5000 LEHR_TEST_SEED=7 build/ci/tests/templates/rowwise_test --gtest_filter='*Random*'
#include <gtest/gtest.h>

#include <fmt/core.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/rng.h"
#include "cpu_problems.h"
#include "cpu_runs.h"
#include "templates/catalog.h"
#include "tests/support/random_rows.h"
#include "tests/support/sample_config.h"
#include "tests/support/seed.h"
#include "tests/support/verify.h"

namespace lehr {
namespace {

using lehr::testing::cpu_limits;
using lehr::testing::expect_right;
using lehr::testing::random_rows;

TEST(Rowwise, RandomExpressionsAreRight) {
  const char* const asked = std::getenv("LEHR_ROWS_COUNT");
  const int count = asked == nullptr ? 100 : std::atoi(asked);
  const std::uint64_t seed = testing::test_seed(1);
  Rng rng(seed);
  for (int done = 0; done < count; done += 50) {  // a compilation
    std::vector<std::string> texts;
    for (int i = 0; i < 50; ++i) texts.push_back(random_rows(rng));
    expect_right(texts, 1, seed + static_cast<std::uint64_t>(done));
    if (asked != nullptr) fmt::print("{} of {}\n", done + 50, count);
  }
}

TEST(Rowwise, KernelsOfRandomExpressionsAreWellFormed) {
  const std::uint64_t seed = testing::test_seed(2);
  Rng rng(seed);
  for (int i = 0; i < 60; ++i) {
    const Workload workload = parse_workload(random_rows(rng, 1e6));
    const Limits limits = cpu_limits(std::vector<int>{16, 32, 64}[rng.below(3)], 2);
    const KernelSpace kernels = kernel_space(workload, limits);
    for (int j = 0; j < 4; ++j) {
      const Config config = testing::sample_config(kernels.space.families()[0], rng).value();
      SCOPED_TRACE(to_text(workload) + " " + to_text(config));
      EXPECT_EQ(ir::why_malformed(lower(workload, config, limits)), std::nullopt);
    }
  }
}

}  // namespace
}  // namespace lehr
