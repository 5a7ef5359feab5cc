// Tests of `show --as model` on a log that another machine might have written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>

#include "base/rng.h"
#include "database/database.h"
#include "support.h"
#include "templates/catalog.h"
#include "tests/support/sample_config.h"

namespace lehr::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kShow = "show gemm --m 96 --n 80 --k 64 --as model ";

/// Writes sampled kernels of an AVX2 machine with `cores` cores, slower with every knob that is above its
/// least value. Their predictions, if `predicted`, are right.
void write_log(const std::filesystem::path& path, int cores, int trials, bool predicted) {
  const Workload workload = parse_workload("gemm m=96 n=80 k=64");
  Limits limits;
  limits.target = Target::kCpu;
  limits.arch = "avx2";
  limits.cores = cores;
  limits.vector_bytes = 32;
  limits.vector_registers = 16;
  limits.l1_bytes = 48 << 10;
  limits.l2_bytes = 2 << 20;
  limits.l3_bytes = 32 << 20;
  const Space space = kernel_space(workload, limits).space;
  Rng rng(3);
  Database database = Database::open(path);
  StoredDevice device;
  device.limits = limits;
  const std::uint64_t facts = database.append(device);
  for (int i = 0; i < trials; ++i) {
    Record record;
    record.workload = to_text(workload);
    record.device = fmt::format("cpu | Nobody's CPU | avx2 | cores={} | driver= | g++", cores);
    record.target = "cpu";
    record.arch = "avx2";
    record.device_hash = facts;
    record.config = testing::sample_config(space, rng);
    record.template_version = template_named(record.config.family).version;
    double us = 100;
    for (const KnobValue& knob : record.config.knobs) us += static_cast<double>(knob.value % 97);
    Timing timing;
    timing.time_us = us;
    timing.samples_us = {us};
    record.outcome = timing;
    if (i == 0) record.outcome = Failure{FailureKind::kCompile, "no", {}};
    record.picked_by = i == 0 ? "default" : "anneal";
    record.session = "s1";
    if (predicted && i > 0) record.predicted = -us;
    database.append(record);
  }
}

TEST(ShowModel, ExplainsALogWhoseDeviceIsNotHere) {
  const Scratch scratch;
  write_log(scratch.path() / "far.db", 7, 60, true);
  const Ran ran = run_lehr(words(std::string(kShow) + "--db far.db --json"), scratch.path());
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json document = json::parse(ran.out);
  EXPECT_THAT(document.at("workload").get<std::string>(), HasSubstr("gemm m=96 n=80 k=64"));
  ASSERT_EQ(document.at("tasks").size(), 1u);
  const json& task = document.at("tasks")[0];
  EXPECT_THAT(task.at("device").get<std::string>(), HasSubstr("Nobody's CPU"));
  EXPECT_EQ(task.at("trials").at("all"), 60);
  EXPECT_EQ(task.at("trials").at("failed"), 1);
  EXPECT_EQ(task.at("picks")[0].at("picked_by"), "anneal");
  EXPECT_EQ(task.at("picks")[1].at("failed"), 1);
  ASSERT_EQ(task.at("stored").size(), 1u);
  EXPECT_EQ(task.at("stored")[0].at("pairwise_accuracy"), 1);
  EXPECT_EQ(task.at("stored")[0].at("recall").at("0.05"), 1);
  EXPECT_EQ(task.at("refitted").at("columns"), "kernels");
  EXPECT_GT(task.at("refitted").at("spearman").get<double>(), 0.3);
  EXPECT_EQ(task.at("groups").size(), 6u);
  EXPECT_GE(task.at("features")[0].at("permutation"), task.at("features")[1].at("permutation"));
  EXPECT_FALSE(task.at("features")[0].at("meaning").get<std::string>().empty());
  EXPECT_EQ(task.at("configs").size(), task.at("refitted").at("configs"));

  const Ran text = run_lehr(words(std::string(kShow) + "--db far.db --threads 7"), scratch.path());
  ASSERT_EQ(text.code, 0) << text.err;
  for (const char* says : {"trials: 60 in 1 session", "stored, session s1", "refitted, held out (5 folds)",
                           "chance", "permutation", "occupancy, waves"})
    EXPECT_THAT(text.out, HasSubstr(says));
}

TEST(ShowModel, SaysWhenThereIsNothingToJudge) {
  const Scratch scratch;
  write_log(scratch.path() / "few.db", 7, 8, true);
  const auto fails = [&](const std::string& command, const std::string& says) {
    const Ran ran = run_lehr(words(command), scratch.path());
    EXPECT_EQ(ran.code, 3) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(says));
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    EXPECT_EQ(ran.out, "");
  };
  fails(std::string(kShow) + "--db few.db", "and 20 are needed to judge a model");
  fails(std::string(kShow) + "--db few.db --threads 3", "few.db holds no trial of gemm m=96 n=80 k=64");
  fails(std::string(kShow) + "--db few.db --device cuda:0", "few.db holds no trial of gemm m=96 n=80 k=64");

  write_log(scratch.path() / "few.db", 4, 60, false);
  const Ran both = run_lehr(words(std::string(kShow) + "--db few.db"), scratch.path());
  ASSERT_EQ(both.code, 0) << both.err;
  EXPECT_THAT(both.out, HasSubstr("there are no stored predictions to judge"));
  EXPECT_THAT(both.out, HasSubstr("too few to judge a model by; 20 are needed"));
}

}  // namespace
}  // namespace lehr::testing
