// Tests of logs whose kernels are not known to be today's: export refuses them, show warns of them, replay
// counts them, and export --remeasure mends them. On a real CPU with the real compiler.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "database/database.h"
#include "runtime/cpu_features.h"
#include "support.h"
#include "target/archs.h"

namespace lehr::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kTune =
    "tune gemm --m 24 --n 20 --k 16 --device cpu --threads 1 --trials 4 --no-baseline --quiet --json";
constexpr const char* kShowStored =
    "show gemm --m 24 --n 20 --k 16 --device cpu --threads 1 --as source --json";

/// Rewrites the log with all its trials changed.
void rewrite(const std::filesystem::path& path, const std::function<void(Record&)>& change) {
  const std::filesystem::path old = path.string() + ".old";
  std::filesystem::rename(path, old);
  const Database from = Database::open_read_only(old);
  Database into = Database::open(path);
  for (const auto& [hash, device] : from.devices()) into.append(device);
  for (Record record : from.all({})) {
    change(record);
    into.append(record);
  }
  for (const StoredVerdict& verdict : from.verdicts({})) into.append(verdict);
}

class Remeasure : public ::testing::Test {
 protected:
  void SetUp() override { record_log(log(), "gemm m=24 n=20 k=16", 4); }
  Ran lehr(const std::string& command) const { return run_lehr(words(command), scratch_.path()); }
  std::filesystem::path log() const { return scratch_.path() / "lehr.db"; }
  /// Returns the first kernel that was exported, as the manifest has it.
  json kernel() const {
    std::ifstream file(scratch_.path() / "w/manifest.json");
    return json::parse(file)["functions"].at(0)["kernels"].at(0);
  }

  /// Expects that export refuses the log, and that --remeasure mends it for good.
  void expect_refused_then_mended(const std::string& why) {
    const Ran refused = lehr("export --out w");
    EXPECT_EQ(refused.code, 3);
    EXPECT_THAT(refused.err, AllOf(HasSubstr(why), HasSubstr("lehr export --remeasure")));
    EXPECT_FALSE(std::filesystem::exists(scratch_.path() / "w"));
    const std::int64_t before = parsed(lehr("db stats --json"))["records"];
    const Ran mended = lehr("export --out w --remeasure --json");
    EXPECT_THAT(mended.err, HasSubstr("was measured again"));
    EXPECT_EQ(parsed(mended)["kernels"], 1);
    const json stats = parsed(lehr("db stats --json"));
    EXPECT_GT(stats["records"], before);
    const json kernel = this->kernel();
    const std::optional<Record> row = Database::open_read_only(log()).find(kernel["record"]);
    ASSERT_TRUE(row);
    EXPECT_THAT(row->picked_by, ::testing::AnyOf("remeasure", "default"));
    EXPECT_NE(row->source_hash, 0u);
    EXPECT_EQ(parsed(lehr("export --out w --replace --json"))["kernels"],
              1);  // nothing is measured now
    EXPECT_EQ(parsed(lehr("db stats --json"))["records"], stats["records"]);
    const Ran shown = lehr(kShowStored);
    EXPECT_EQ(shown.err, "");
    EXPECT_EQ(parsed(shown)["as_measured"], true);
    std::ifstream source(scratch_.path() / "w" / kernel["source"].get<std::string>());
    EXPECT_THAT(std::string(std::istreambuf_iterator<char>(source), {}),
                HasSubstr(parsed(shown)["source"]["text"].get<std::string>()));
  }

 private:
  Scratch scratch_;
};

TEST_F(Remeasure, IsNotNeededWhereNothingChanged) {
  EXPECT_EQ(parsed(lehr("export --out w --json"))["kernels"], 1);
  const std::int64_t before = parsed(lehr("db stats --json"))["records"];
  EXPECT_EQ(parsed(lehr("export --out w --replace --json --remeasure"))["kernels"], 1);
  EXPECT_EQ(parsed(lehr("db stats --json"))["records"], before);
  EXPECT_EQ(parsed(lehr("db stats --json"))["devices"], 1);
}

TEST_F(Remeasure, ExportProvesAWinnerThatTuningHadNoTimeToProve) {
  {
    Database database = Database::open(log());
    StoredVerdict verdict = database.verdicts({}).at(0);
    verdict.provisional = true;
    verdict.created_unix_ms = 0;
    database.append(verdict);
  }
  EXPECT_EQ(parsed(lehr("best --json"))[0]["provisional"], true);
  EXPECT_THAT(lehr("best").out, HasSubstr("? provisional: there was no time to prove it"));
  const Ran exported = lehr("export --out w --json");
  EXPECT_THAT(exported.err, HasSubstr("was measured again"));
  EXPECT_EQ(parsed(exported)["kernels"], 1);
  const json best = parsed(lehr("best --json"))[0];
  EXPECT_EQ(best["provisional"], false);
  EXPECT_EQ(best["contested"], true);
  EXPECT_EQ(best["record"], kernel()["record"]);
}

// `best` once listed winners with a knob that is gone as if nothing was wrong, and export left them out.
TEST_F(Remeasure, BestSaysWhichWinnersExportLeavesOut) {
  EXPECT_TRUE(parsed(lehr("best --json"))[0]["lost"].is_null());
  rewrite(log(), [](Record& record) { record.config.knobs.push_back({"gone", 1}); });
  EXPECT_THAT(parsed(lehr("best --json"))[0]["lost"].get<std::string>(), HasSubstr("has no knob gone"));
  const Ran best = lehr("best");
  EXPECT_EQ(best.code, 0);
  EXPECT_THAT(best.out,
              AllOf(HasSubstr("gone=1"), HasSubstr("\nlehr export: 'gemm m=24 n=20 k=16 "),
                    HasSubstr("is left out: its config is no longer valid"), HasSubstr("tune it again")));
}

// The log's fastest single trial is not what the finals say.
TEST_F(Remeasure, BestAndStatsTellOneTime) {
  const double best = parsed(lehr("best --json"))[0]["time_us"];
  EXPECT_EQ(parsed(lehr("db stats --json"))["tasks"][0]["best_us"], best);
}

// The winner's device is its level, not this machine.
TEST_F(Remeasure, MendsAWinnerOfALevel) {
  for (const IsaLevel& level : archs_of(Target::kCpu).levels) {
    if (level.machine != runtime::cpu_machine()) continue;
    ASSERT_EQ(lehr(fmt::format("{} --db level.db --isa {}", kTune, level.name)).code, 0);
    rewrite(log().parent_path() / "level.db", [](Record& record) { record.source_hash = 1; });
    const Ran mended = lehr("export --db level.db --out w --remeasure --json");
    EXPECT_THAT(mended.err, HasSubstr("was measured again"));
    EXPECT_EQ(parsed(mended)["kernels"], 1);
    EXPECT_THAT(std::string(kernel()["device"]), HasSubstr(fmt::format("-march={} ", level.name)));
    break;  // the lowest one runs everywhere
  }
}

TEST_F(Remeasure, MendsAWinnerWhoseKernelIsAnotherNow) {
  rewrite(log(), [](Record& record) { record.source_hash ^= 1; });
  const Ran shown = lehr(kShowStored);
  EXPECT_EQ(shown.code, 0);
  EXPECT_THAT(shown.err, AllOf(HasSubstr("warning: "), HasSubstr("another kernel of its config")));
  EXPECT_EQ(std::ranges::count(shown.err, '\n'), 1);
  EXPECT_EQ(parsed(shown)["as_measured"], false);
  const Ran replayed = lehr("replay lehr.db --trials 4 --seeds 1 --quiet");
  EXPECT_EQ(replayed.code, 0);
  EXPECT_THAT(replayed.out, HasSubstr("4 timed trials of kernels that this version makes otherwise"));
  expect_refused_then_mended("another kernel of its config");
  // Nor does such a time answer a further tuning.
  EXPECT_THAT(parsed(lehr(kTune))["resume"].get<std::string>(),
              HasSubstr("that this version makes otherwise"));
}

TEST_F(Remeasure, SaysThatAWinnerIsOfAnotherDevice) {
  rewrite(log(), [](Record& record) {
    record.source_hash ^= 1;
    record.device += " of somebody else";
  });
  const Ran ran = lehr("export --out w --remeasure");
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.err, HasSubstr("this machine has no such device"));
  EXPECT_FALSE(std::filesystem::exists(log().parent_path() / "w/manifest.json"));
}

// The contest that somebody else's log reports of its winner is no contest of this log.
TEST_F(Remeasure, AWinnerOfAMergedLogIsNotContested) {
  const auto best = [&](const std::string& log) { return parsed(lehr("best --json --db " + log))[0]; };
  EXPECT_EQ(best("lehr.db")["contested"], true);
  EXPECT_EQ(best("lehr.db")["merged_from"], "");
  EXPECT_EQ(lehr("db merge all.db lehr.db").code, 0);
  EXPECT_EQ(best("all.db")["contested"], false);
  EXPECT_EQ(best("all.db")["merged_from"], "lehr.db");
  EXPECT_THAT(lehr("best --db all.db").out, HasSubstr(", of lehr.db"));
  EXPECT_THAT(lehr("db stats all.db").out, HasSubstr("1 session merged from lehr.db"));
  EXPECT_EQ(lehr("export --db all.db --out w").code, 0);
  EXPECT_EQ(kernel()["contested"], false);
  EXPECT_EQ(kernel()["merged_from"], "lehr.db");
  EXPECT_EQ(lehr("db merge mine.db lehr.db --trusted").code, 0);
  EXPECT_EQ(best("mine.db")["contested"], true);
  // A tuning here makes it a fact.
  EXPECT_EQ(lehr(std::string(kTune) + " --db all.db").code, 0);
  EXPECT_EQ(best("all.db")["contested"], true);
}

}  // namespace
}  // namespace lehr::testing
