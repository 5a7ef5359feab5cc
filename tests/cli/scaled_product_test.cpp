// alpha: tune, best, show, export, check on a real CPU with the real compiler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "support.h"

namespace lehr::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// alpha goes from the flag to the check, the log, the libraries, the kernel and the bundle. It makes another
// task than the same product unscaled.
TEST(ScaledProduct, GoesFromTheFlagToTheBundle) {
  const Scratch scratch;
  const auto lehr = [&](const std::string& line) { return run_lehr(words(line), scratch.path()); };
  const std::string problem = "gemm --m 24 --n 20 --k 16 --device cpu --threads 1";
  const std::string plain =
      "gemm m=24 n=20 k=16 batch=1 a=f32:row b=f32:row c=f32:row accum=f32 epilogue=none";
  const std::string scaled = plain + " alpha=-0.375";
  const json checks = parsed(lehr("check " + problem + " --alpha -0.375 --samples 3 --json"));
  EXPECT_EQ(checks["checks"][0]["workload"], scaled);
  EXPECT_EQ(checks["right_configs"], checks["sampled_configs"]);
  EXPECT_EQ(lehr("check " + problem + " --alpha 0").code, 1);

  const std::string tune =
      "tune " + problem + " --trials 4 --quiet --json --baseline openblas,onednn,unfused ";
  parsed(lehr(tune));
  const json summary = parsed(lehr(tune + "--alpha -0.375"));
  EXPECT_EQ(summary["workload"], scaled);
  EXPECT_EQ(summary["trials"]["reused"], 0);
  ASSERT_EQ(summary["baselines"].size(), 2u);  // there is no pair without an epilogue
  for (const json& baseline : summary["baselines"])
    EXPECT_THAT(baseline["missing"].is_null() ? "not installed" : baseline["missing"].get<std::string>(),
                HasSubstr("not installed"));
  const json again = parsed(lehr(tune + "--alpha -0.375 --epilogue bias+relu"));
  EXPECT_THAT(again["workload"].get<std::string>(), HasSubstr("epilogue=bias+relu alpha=-0.375"));
  EXPECT_EQ(again["baseline"]["name"], "unfused");
  EXPECT_EQ(parsed(lehr("best --json")).size(), 3u);

  const Ran shown =
      run_lehr({"show", scaled, "--device", "cpu", "--threads", "1", "--as", "source"}, scratch.path());
  EXPECT_THAT(shown.out, HasSubstr("-0.375"));
  EXPECT_EQ(parsed(lehr("export --out winners --json"))["kernels"], 3);
  std::ifstream file(scratch.path() / "winners/manifest.json");
  const json library = json::parse(file);
  int found = 0;
  for (const json& function : library["functions"]) {
    const json& kernel = function["kernels"].at(0);
    std::ifstream source(scratch.path() / "winners" / kernel["source"].get<std::string>());
    const std::string text(std::istreambuf_iterator<char>(source), {});
    found += kernel["workload"] == scaled && text.find("-0.375") != std::string::npos;
  }
  EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace lehr::testing
