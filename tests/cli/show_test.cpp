// Tests of `show`: kernels of machines that need not be here, the compiler's log, and what a tuning would
// begin with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"

namespace lehr::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

TEST(Show, PrintsEveryFormOfACpuAndACudaKernel) {
  const Scratch scratch;
  for (const std::string target : {"--device cpu", "--arch sm_90a"}) {
    for (const std::string form : {"ast", "source", "features"}) {
      const std::string line = "show gemm --m 64 --n 64 --k 64 " + target + " --sample 3 --as " + form;
      const Ran text = run_lehr(words(line), scratch.path());
      EXPECT_EQ(text.code, 0) << line << text.err;
      EXPECT_THAT(text.out, HasSubstr("// config: gemm")) << line;
      const json document = parsed(run_lehr(words(line + " --json"), scratch.path()));
      EXPECT_TRUE(document.contains(form)) << line;
      EXPECT_EQ(document["chosen"], "sample 3");
      if (form != "features") continue;
      EXPECT_THAT(text.out, HasSubstr("The analytic prior")) << line;
      EXPECT_GT(document["prior"]["time_us"], 0) << line;
      EXPECT_GE(document["prior"]["terms"].size(), 7u) << line;
    }
  }
}

TEST(Show, SaysThatItShowsTheDefaultWhenNothingIsKnown) {
  const Scratch scratch;
  const Ran ran = run_lehr(words("show gemm --m 8 --n 8 --k 8 --device cpu --as ast"), scratch.path());
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("// chosen: the default; ./lehr.db knows none of this workload"));
  EXPECT_FALSE(std::filesystem::exists(scratch.path() / "lehr.db"));
}

TEST(Show, ListsWhatATuningWouldBeginWith) {
  const Scratch scratch;
  const std::string problem = "gemm --m 64 --n 512 --k 512 --a f16:row --b f16:column ";
  const std::string line = "show " + problem + "--arch sm_90a --as picks";
  const json document = parsed(run_lehr(words(line + " --json"), scratch.path()));
  const json& picks = document["picks"];
  ASSERT_GE(picks.size(), 16u);  // the prior's, on CUDA
  EXPECT_EQ(picks[0]["picked_as"], "default");
  EXPECT_EQ(picks.back()["picked_as"], "prior");
  const std::string last = picks.back()["config"];
  const Ran text = run_lehr(words(line), scratch.path());
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr(last));
  // `show` reports for each config what its estimate is made of.
  std::vector<std::string> ask = words("show " + problem + "--arch sm_90a --as features --json --config");
  ask.push_back(last);
  const json features = parsed(run_lehr(ask, scratch.path()));
  EXPECT_DOUBLE_EQ(features["prior"]["time_us"].get<double>(), picks.back()["prior_us"].get<double>());
  EXPECT_NE(parsed(run_lehr(words(line + " --seed 1 --json"), scratch.path()))["picks"], picks);
}

TEST(Show, CompilesForTheLog) {
  const Scratch scratch;
  const json document =
      parsed(run_lehr(words("show gemm --m 8 --n 8 --k 8 --device cpu --as log --json"), scratch.path()));
  EXPECT_TRUE(document["failure"].is_null());
  EXPECT_GT(document["resources"]["compile_s"].get<double>(), 0);
}

}  // namespace
}  // namespace lehr::testing
