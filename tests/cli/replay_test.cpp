// replay on a recorded table, and AutoTVM's settings on a real CPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "support.h"

namespace lehr::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const std::string kTable = LEHR_SOURCE_DIR "/tests/data/kernel_tuner_gemm_RTX_3090.json.gz";

TEST(Replay, PrintsOneDocumentWithTheKeysThatItsReadmeNames) {
  const Scratch scratch;
  const std::string line = "replay " + kTable + " --trials 40 --seeds 2 --json --plot curves.csv";
  const Ran ran = run_lehr(words(line), scratch.path());
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("2 of 2 searches"));
  const json document = json::parse(ran.out);
  const json& table = document.at("tables").at(0);
  EXPECT_EQ(table.at("table"), kTable);
  EXPECT_EQ(table.at("device"), "NVIDIA GeForce RTX 3090");
  EXPECT_EQ(table.at("rows"), 4489);
  EXPECT_NEAR(table.at("optimum").get<double>(), 5657.8, 0.01);
  for (const json& figures : {table, table.at("random"), document.at("over_tables")}) {
    EXPECT_GT(figures.at("fraction").at("32").at("median").get<double>(), 0.5);
    EXPECT_LE(figures.at("fraction").at("32").at("p10"), figures.at("fraction").at("32").at("median"));
    EXPECT_TRUE(figures.at("fraction").at("256").is_null());
    EXPECT_TRUE(figures.at("trials_to").contains("0.90"));
    EXPECT_TRUE(figures.at("score").is_number());
  }
  EXPECT_EQ(table.at("random").at("score"), 0);
  std::ifstream plot(scratch.path() / "curves.csv");
  std::string header, text;
  std::getline(plot, header);
  EXPECT_EQ(header, "table,device,trial,fraction_median,fraction_p10,random_fraction");
  int lines = 0;
  while (std::getline(plot, text)) ++lines;
  EXPECT_EQ(lines, 40);
  EXPECT_EQ(run_lehr(words(line), scratch.path()).out, ran.out) << "the same seeds give the same searches";
}

TEST(Replay, SpeaksOfItselfToPeopleToo) {
  const Scratch scratch;
  const Ran ran = run_lehr(words("replay " + kTable + " --strategy random --trials 20 --seeds 3 --quiet"),
                           scratch.path());
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(
      ran.out,
      HasSubstr("Xgemm 4096x4096 on NVIDIA GeForce RTX 3090: 4489 rows, 0 failed, optimum 5657.8 us"));
  EXPECT_THAT(ran.out, HasSubstr("random"));
}

TEST(Replay, TheLogOfATunerRunIsATable) {
  const Scratch scratch;
  const Ran tuned = run_lehr(words("tune gemm --m 24 --n 20 --k 16 --device cpu --threads 1 --no-baseline "
                                   "--quiet --json --db own.db --trials 20 "
                                   "--strategy autotvm"),
                             scratch.path());
  ASSERT_EQ(tuned.code, 0) << tuned.err;
  EXPECT_EQ(json::parse(tuned.out).at("strategy"), "autotvm");
  const Ran ran = run_lehr(words("replay own.db --seeds 2 --json --quiet"), scratch.path());
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json table = json::parse(ran.out).at("tables").at(0);
  EXPECT_THAT(table.at("kernel").get<std::string>(), HasSubstr("gemm m=24 n=20 k=16"));
  EXPECT_GT(table.at("rows"), 8);
  EXPECT_EQ(table.at("fraction").at("256").at("median"), 1) << "a table with fewer rows is known whole";
}

TEST(Transfer, TuneTakesHintsFromOtherWorkloadsOfTheLogUnlessItIsToldNotTo) {
  const Scratch scratch;
  const auto tune = [&](const std::string& rest) {
    return run_lehr(
        words("tune gemm --n 20 --k 16 --device cpu --threads 1 --no-baseline --trials 2 --db own.db " +
              rest),
        scratch.path());
  };
  record_log(scratch.path() / "own.db", "gemm m=24 n=20 k=16", 10);
  const Ran second = tune("--m 40");
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.err, HasSubstr("trials of 1 other task (nearest: gemm m=24 n=20 k=16"));
  const Ran third = tune("--m 48 --json");
  EXPECT_THAT(third.err, HasSubstr("trials of 2 other tasks (nearest: gemm m=40"));
  EXPECT_GE(json::parse(third.out).at("trials").at("evidence"), 10);
  const Ran off = tune("--m 56 --transfer off");
  ASSERT_EQ(off.code, 0) << off.err;
  EXPECT_EQ(off.err.find("hints"), std::string::npos) << off.err;
  const Ran other =
      run_lehr(words("tune gemm --m 24 --n 20 --k 16 --device cpu --threads 1 --no-baseline --trials 2 --db "
                     "new.db --transfer own.db"),
               scratch.path());
  ASSERT_EQ(other.code, 0) << other.err;
  EXPECT_THAT(other.err, HasSubstr("hints: "));
}

}  // namespace
}  // namespace lehr::testing
