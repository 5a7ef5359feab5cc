// Tests of kernels of row expressions: right for every expression, shape, type, schedule and number of rows.
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
  for (int done = 0; done < count; done += 50) {  // configs of one compilation
    std::vector<std::string> texts;
    for (int i = 0; i < 50; ++i) texts.push_back(random_rows(rng));
    expect_right(texts, 1, seed + static_cast<std::uint64_t>(done));
    if (asked != nullptr) fmt::print("{} of {}\n", done + 50, count);
  }
}

TEST(Rowwise, SplitRowsAreRightFewerAndMoreThanThereIsRoomFor) {
  const std::vector<std::string> texts = {
      "m=1 n=517 in=x:f32 out=y:f32 expr=y=exp(x-max(x))/sum(exp(x-max(x)))",
      "m=8 n=600 in=x:f32,g:f32:column,b:bf16:column out=y:f32,v:f32:row "
      "expr=y=(x-mean(x))*rsqrt(var(x)+1e-05)*g+b;v=var(x)",
      "m=7 n=1000 in=x:bf16 out=s:f32:row,w:f32:row expr=s=sum(x);w=2",
      "m=6 n=800 in=x:f32,c:f32:column out=y:bf16 expr=y=x*c",
      "m=8 n=640 in=x:f32,k:f32:column/4,w:f32:row/4 out=y:f32,l:f32:row "
      "expr=t=select(k<w,x,-1);y=t-max(t);l=log(sum(exp(y)))+mean(mean(w))",
      "m=2 n=4097 in=x:f32 out=l:f32:row expr=l=min(x)+max(abs(x)-min(x))"};
  std::vector<std::string> whole;
  for (const std::string& text : texts) whole.push_back("rowwise " + text);
  expect_right(whole, 2, testing::test_seed(3), testing::fused, nullptr,
               [](const Config& config) { return config.at("split") == 1 || config.at("threads") == 1; });
}

// Each node is used twice: 2^29 ways lead through them.
TEST(Rowwise, AChainOfSharedValuesTakesNoLongerThanItsNodes) {
  std::string text = "rowwise m=4 n=512 in=x:f32 out=y:f32,s:f32:row expr=t0=x+x";
  for (int i = 1; i <= 29; ++i) text += fmt::format(";t{}=t{}+(x-t{})", i, i - 1, i - 1);
  text += ";y=t29-max(t29);s=sum(t29)";
  const Workload workload = parse_workload(text);
  const Limits limits = cpu_limits(64, 2);
  Rng rng(1);
  for (int i = 0; i < 10; ++i) {
    const Config config =
        testing::sample_config(kernel_space(workload, limits).space.families()[0], rng).value();
    EXPECT_EQ(ir::why_malformed(lower(workload, config, limits)), std::nullopt) << to_text(config);
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
