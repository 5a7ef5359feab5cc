// Tests of a range of rows at the shell: tuned on a real CPU, reported by `best` and `show`, and carried by a
// merge.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support.h"

namespace lehr::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kRange =
    "gemm m=1..12 n=24 k=16 batch=1 a=f32:row b=f32:row:constant c=f32:row accum=f32 epilogue=none";

TEST(RangeOfRows, IsTunedThenToldAndMerged) {
  const Scratch scratch;
  const auto lehr = [&](const std::string& line) { return run_lehr(words(line), scratch.path()); };
  const Ran ran = lehr(
      "tune gemm --m 1..12 --n 24 --k 16 --b f32:row:constant --device cpu --threads 1 --kernels 3 --trials "
      "40 "
      "--json");
  const json summary = parsed(ran);
  EXPECT_EQ(summary["workload"], kRange);
  ASSERT_TRUE(summary["set"].is_object()) << summary["missing"];
  const json& set = summary["set"];
  EXPECT_EQ(set["least"], 1);
  EXPECT_EQ(set["most"], 12);
  EXPECT_EQ(set["members"].back()["to"], 12);
  EXPECT_EQ(set["times"].front()["rows"], 1);
  EXPECT_EQ(set["times"].back()["rows"], 12);
  EXPECT_LE(summary["trials"]["measured"], 40);
  EXPECT_LE(set["held_out"].size(), 5u) << "5, 7, 9, 10 and 11, some of which were timed for the set";
  EXPECT_GT(summary["best"]["time_us"].get<double>(), 0);
  EXPECT_THAT(ran.err, HasSubstr("searching at 5 sizes from 1 to 12 rows"));
  EXPECT_THAT(ran.err, HasSubstr("timing the best"));

  const json best = parsed(lehr("best --json"));
  const auto of_range =
      std::ranges::find_if(best, [](const json& each) { return each["workload"] == kRange; });
  ASSERT_NE(of_range, best.end());
  EXPECT_EQ((*of_range)["set"], set);
  EXPECT_EQ((*of_range)["record"], summary["best"]["record"]);
  for (const json& each : best) EXPECT_THAT(each["workload"].get<std::string>(), Not(HasSubstr(" rows=")));
  EXPECT_THAT(lehr("best").out, HasSubstr("held out"));

  const Ran shown = run_lehr({"show", kRange}, scratch.path());
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr(set["members"].back()["config"].get<std::string>()));
  EXPECT_EQ(parsed(run_lehr({"show", kRange, "--json"}, scratch.path()))[0]["set"], set);
  EXPECT_THAT(lehr("db stats").out, HasSubstr("rows=4"));

  EXPECT_EQ(lehr("db merge others.db lehr.db --trusted").code, 0);
  EXPECT_EQ(parsed(run_lehr({"show", kRange, "--db", "others.db", "--json"}, scratch.path()))[0]["set"], set);
  EXPECT_EQ(lehr("db merge evidence.db lehr.db").code, 0);
  const Ran none = run_lehr({"show", kRange, "--db", "evidence.db"}, scratch.path());
  EXPECT_EQ(none.code, 3) << "somebody else's verdicts do not count";
  EXPECT_THAT(none.err, HasSubstr("holds no set of kernels"));
}

// Export once left out kernels with a residual a moment later, since their text had the rows of their trial.
TEST(RangeOfRows, WithAResidualIsExported) {
  const Scratch scratch;
  const auto lehr = [&](const std::string& line) { return run_lehr(words(line), scratch.path()); };
  const Ran ran = lehr(
      "tune gemm --m 1..9 --n 20 --k 24 --b f32:row:constant --epilogue residual --device cpu --threads 1 "
      "--trials 9 --quiet");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Ran exported = lehr("export --out k");
  EXPECT_EQ(exported.code, 0);
  EXPECT_THAT(exported.err, Not(HasSubstr("left out")));
}

}  // namespace
}  // namespace lehr::testing
