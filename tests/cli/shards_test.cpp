// Tests of shards at the command line: what each process of a run works at, before a device is asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "support.h"

namespace lehr::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class Shards : public ::testing::Test {
 protected:
  Shards() {
    std::ofstream list(scratch_.path() / "list.txt");
    for (const char* size : {"16", "32", "48", "64", "1024", "16"})
      list << "gemm m=" << size << " n=32 k=32\n";
  }
  Ran lehr(const std::string& line, const std::vector<std::string>& environment = {}) {
    return run_lehr(words("tune --problems list.txt " + line), scratch_.path(), {}, environment);
  }
  Scratch scratch_;
};

TEST_F(Shards, ArePrintedWithoutADeviceAndALog) {
  const json plan =
      parsed(lehr("--shard 1/3 --trials 4 --device cuda:63 --db /nowhere/x.db --dry-run --json"));
  std::set<std::string> workloads;
  std::set<int> shards;
  for (const json& item : plan.at("items")) {
    workloads.insert(item.at("workload"));
    shards.insert(item.at("shard").get<int>());
  }
  EXPECT_EQ(workloads.size(), 5);  // equal ones are one
  EXPECT_EQ(shards, (std::set{0, 1, 2}));
  const Ran ran = lehr("--shard 0/3 --trials 4 --dry-run");
  EXPECT_THAT(ran.out, HasSubstr("shard 0:"));
  EXPECT_EQ(lehr("--dry-run").code, 1);
  EXPECT_THAT(run_lehr({"tune", "gemm m=16 n=16 k=16", "--shard", "0/2"}, scratch_.path()).err,
              HasSubstr("is of several workloads"));
  EXPECT_THAT(lehr("--shard 3/3 --dry-run").err, HasSubstr("from 0 to 2"));
}

TEST_F(Shards, AreReadOffAJobArrayWithoutGaps) {
  const auto array = [&](int id, int least, int most, int step, int count) {
    const auto set = [](const char* name, int value) {
      return "SLURM_ARRAY_TASK_" + std::string(name) + "=" + std::to_string(value);
    };
    return lehr("--shard auto --dry-run",
                {set("ID", id), set("MIN", least), set("MAX", most), set("STEP", step), set("COUNT", count)});
  };
  EXPECT_THAT(array(5, 1, 5, 2, 3).out, HasSubstr("\nshard 2:\n"));
  EXPECT_THAT(array(0, 0, 0, 1, 1).out, HasSubstr("\nshard 0:\n"));
  for (const Ran& ran :
       {array(3, 0, 7, 1, 4), array(2, 1, 5, 2, 3), array(7, 1, 5, 2, 3), array(0, 0, 4, 0, 5)}) {
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.err, HasSubstr("has gaps"));
  }
  EXPECT_THAT(lehr("--shard auto --dry-run").err, HasSubstr("SLURM_ARRAY_TASK_ID is not set"));
}

TEST_F(Shards, OfWhichSeveralAttemptsPublishEndWithEachTrialOnce) {
  const std::string tune =
      "--trials 3 --strategy random --device cpu --threads 1 --no-baseline --quiet --publish run --shard ";
  for (const char* rest : {"0/2 --db a.db", "1/2 --db b.db", "0/2 --db again.db"})
    EXPECT_EQ(lehr(tune + rest).code, 0);
  EXPECT_THAT(lehr(tune + "0/3 --db c.db").err,
              HasSubstr("or another --trials or --time: name a new folder"));
  const json survey = parsed(run_lehr(words("db progress run --json"), scratch_.path()));
  for (const json& shard : survey.at("shards")) {
    EXPECT_EQ(shard.at("state"), "done");
    EXPECT_EQ(shard.at("done"), shard.at("items"));
    EXPECT_LE(shard.at("trials"), shard.at("planned"));
  }
  EXPECT_EQ(survey.at("shards")[0].at("attempts"), 2);
  EXPECT_THAT(run_lehr(words("db progress run"), scratch_.path()).out, HasSubstr("2 of 2 shards done"));
  EXPECT_EQ(run_lehr(words("db progress ."), scratch_.path()).code, 1);
}

TEST_F(Shards, GoOnWithoutAPublishedLogThatIsDamagedAndSayWhatTheyCannotPublish) {
  const std::string tune =
      "--trials 2 --strategy random --device cpu --threads 1 --no-baseline --publish run --shard 0/8 --db ";
  EXPECT_EQ(lehr(tune + "a.db").code, 0);
  for (const auto& entry : std::filesystem::directory_iterator(scratch_.path() / "run"))
    if (entry.path().extension() == ".db") std::filesystem::resize_file(entry.path(), 5000);
  const Ran again = lehr(tune + "b.db");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("not taken over: "));

  const std::filesystem::path done = scratch_.path() / "run/shard-0-of-8.done";
  std::filesystem::remove(done);
  std::filesystem::create_directories(done / "in the way");
  const Ran unpublished = lehr(tune + "c.db --quiet");
  EXPECT_EQ(unpublished.code, 2);
  EXPECT_THAT(unpublished.err, HasSubstr("shard-0-of-8.done cannot be replaced"));
}

// A workload that a node cannot serve is no failure of its shard: a scheduler would try it again.
TEST_F(Shards, OfWhichNothingIsServedAreDone) {
  std::ofstream(scratch_.path() / "list.txt") << "gemm m=16 n=32 k=32 a=e4m3:row b=e4m3:row\n";
  const Ran ran = lehr("--trials 2 --device cpu --threads 1 --publish run --shard 0/1");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.err, HasSubstr("this shard has nothing to tune"));
  EXPECT_EQ(parsed(run_lehr(words("db progress run --json"), scratch_.path())).at("shards")[0].at("state"),
            "done");
}

}  // namespace
}  // namespace lehr::testing
