// Tests of the page of a log: it has the same figures as `best`, all that matters of many trials, and nothing
// that a stranger's text could do.
#include "report/report.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cmath>

#include "api/best.h"
#include "base/rng.h"
#include "deploy/applied_folder.h"
#include "measure/core/stats.h"
#include "report/changes.h"
#include "report/figures.h"
#include "report/network.h"
#include "report/task.h"
#include "report/trials.h"
#include "tests/database/support.h"
#include "workload/workload.h"

namespace lehr::report {
namespace {

using nlohmann::json;
using test::error_of;
using test::TempDir;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kDevice = "cpu | A processor | avx2 | cores=2 | driver= | g++";

std::string gemm(int m) {
  return to_text(parse_workload(fmt::format("gemm m={} n=64 k=64", m)));
}

/// Returns a trial of knobs x and y; time 0: it failed.
Record trial(const std::string& workload, int x, int y, double us, const std::string& session = "one") {
  Record record =
      us > 0 ? test::timed(workload, kDevice, us) : test::failed(workload, kDevice, FailureKind::kCompile);
  record.config = {"gemm_cpu", {{"x", x}, {"y", y}}};
  record.session = session;
  record.session_began_unix_ms = session == "one" ? 1'000'000 : 2'000'000;
  record.tool_version = "0.1.0";
  return record;
}

/// Returns a verdict with a document as a session writes it.
StoredVerdict verdict_of(const Record& winner, Ratio over_default) {
  StoredVerdict verdict = test::verdict(winner.workload, winner.device, winner.id);
  verdict.session = winner.session;
  verdict.best = {10, {9.9, 10.1}};
  verdict.default_time = {13, {12.9, 13.1}};
  verdict.speedup_vs_default = over_default;
  verdict.baseline = "openblas";
  verdict.baseline_us = 12;
  verdict.speedup_vs_baseline = {1.2, {1.1, 1.3}};
  verdict.json =
      R"({"strategy": "anneal", "elapsed_s": {"total": 30.5, "phases": {"compile": 20, "trials": 10.5}},
    "peaks": {"gflops": 100, "gbytes_per_s": 20},
    "baselines": [{"name": "openblas", "time_us": 12, "speedup": 1.2, "speedup_interval": [1.1, 1.3]},
                  {"name": "onednn", "time_us": null, "missing": "it is not here"}]})";
  return verdict;
}

/// Writes a log of two tasks: one with finals, one with a single trial; and one in which nothing ran.
void fill(const std::filesystem::path& file, Ratio over_default = {1.3, {1.2, 1.4}}) {
  Database log = Database::open(file);
  for (int i = 0; i < 20; ++i) {
    Record record = trial(gemm(64), i % 4, i / 4, i == 7 ? 0 : 30 - i);
    record.created_unix_ms = 1'000'000 + 1000 * (i + 1);
    record.picked_by = i == 0 ? "default" : "trees";
    if (i > 0) record.predicted = i ^ 1;
    record = log.append(record);
    if (i == 19) log.append(verdict_of(record, over_default));
  }
  log.append(trial(gemm(32), 1, 1, 5));
  log.append(trial(gemm(16), 1, 1, 0));
}

Document read_one(const std::filesystem::path& file, std::int64_t most_others = 5000) {
  return read({.logs = {file.string()}, .applied = {}, .most_others = most_others});
}

const Task& task_of(const Document& document, const std::string& workload) {
  const auto found = std::ranges::find(document.tasks, workload, &Task::workload);
  if (found == document.tasks.end()) throw std::runtime_error("no task of " + workload);
  return *found;
}

TEST(Report, HasTheFiguresOfBest) {
  const TempDir folder;
  fill(folder / "a.db");
  const json document = read_one(folder / "a.db").reported;
  api::BestOptions options;
  options.log = (folder / "a.db").string();
  json best = json::parse(api::list_best(options).json);
  ASSERT_EQ(best.size(), 2u);
  json told = json::array();
  for (const json& task : document["tasks"])
    if (!task["winner"].is_null()) told.push_back(task["winner"]);
  // An export would say this, and a report does not ask for it.
  for (json& winner : best) winner.erase("lost");
  EXPECT_EQ(told, best);
  const json& task = document["tasks"][2];
  EXPECT_EQ(task["workload"], gemm(64));
  EXPECT_EQ(task["default_us"], 13);
  EXPECT_EQ(task["seconds"], 30.5);
  EXPECT_EQ(task["libraries"][0]["speedup_interval"], json::parse("[1.1, 1.3]"));
  EXPECT_EQ(task["libraries"][1]["missing"], "it is not here");
  EXPECT_EQ(task["phases"][1], json::parse(R"({"name": "trials", "seconds": 10.5})"));
}

TEST(Report, TellsTasksSessionsAndFailures) {
  const TempDir folder;
  fill(folder / "a.db");
  const Document document = read_one(folder / "a.db");
  ASSERT_EQ(document.tasks.size(), 3u);
  const json task = task_of(document, gemm(64)).reported, &session = task["sessions"][0];
  EXPECT_EQ(task["vs_default"], "faster");
  EXPECT_EQ(task["sessions"].size(), 1u);
  EXPECT_EQ(session["strategy"], "anneal");
  EXPECT_EQ(session["trials"], 20);
  EXPECT_EQ(session["timed"], 19);
  EXPECT_EQ(session["scored"], 18);
  EXPECT_NEAR(session["spearman"].get<double>(), 0.98, 0.01);
  EXPECT_GT(session["pairs_right"], 0.8);
  EXPECT_EQ(task["failures"].size(), 1u);
  EXPECT_EQ(task["failures"][0]["kind"], "compile");
  EXPECT_EQ(task["failures"][0]["sentence"], "The compiler refused the source.");
  EXPECT_EQ(task["trials"]["seconds"][0], 1);
  EXPECT_EQ(task["trials"]["best_us"].back(), 11);
  EXPECT_EQ(task_of(document, gemm(32)).reported["vs_default"], nullptr);
  const json& failed = task_of(document, gemm(16)).reported;
  EXPECT_EQ(failed["winner"], nullptr);
  EXPECT_EQ(failed["failures"][0]["count"], 1);
  EXPECT_EQ(document.logs[0]["trials"], 22);
  EXPECT_EQ(document.logs[0]["versions"], json::parse(R"(["0.1.0"])"));
  EXPECT_EQ(document.devices.size(), 1u);
}

TEST(Report, HasAWordForARatio) {
  EXPECT_EQ(word_of({1.3, {1.2, 1.4}}, true), "faster");
  EXPECT_EQ(word_of({0.9, {0.8, 0.95}}, true), "slower");
  EXPECT_EQ(word_of({1.01, {0.99, 1.03}}, true), "same");
  EXPECT_EQ(word_of({1, {}}, true), "same");
  EXPECT_EQ(word_of({1.3, {}}, true), "unproven");
  EXPECT_EQ(word_of({1.3, {1.2, 1.4}}, false), "unproven");
  EXPECT_EQ(word_of({0, {}}, true), "");
}

/// There are two sessions, and the first one took 7 s.
TEST(Report, PutsSessionsOneBehindTheOther) {
  std::vector<Record> records = {trial("w", 1, 1, 9), trial("w", 2, 1, 8), trial("w", 3, 1, 7, "two")};
  records[0].created_unix_ms = 1'003'000;
  records[1].created_unix_ms = 1'007'000;
  records[2].created_unix_ms = 2'001'000;
  const std::vector<Session> sessions = sessions_of(records, {{"two", "other.db"}});
  ASSERT_EQ(sessions.size(), 2u);
  EXPECT_EQ(sessions[0].reported["merged_from"], nullptr);
  EXPECT_EQ(sessions[1].reported["merged_from"], "other.db");
  const json trials = trials_of(records, sessions, 0);
  EXPECT_EQ(trials["seconds"], json::parse("[3, 7, 8]"));
  EXPECT_EQ(trials["session"], json::parse("[0, 0, 1]"));
}

/// The second session began within the first one, the third one behind a night.
TEST(Report, LeavesOutWhatLiesBetweenSessions) {
  std::vector<Session> sessions(3);
  sessions[0].began_unix_ms = 1'000'000;
  sessions[0].seconds = sessions[0].span = 10;
  sessions[1].began_unix_ms = 1'004'000;
  sessions[1].seconds = 2;  // its own turns, which other tasks' lay between
  sessions[1].span = 8;
  sessions[2].began_unix_ms = 50'000'000;
  sessions[2].seconds = 5;
  const Timeline timeline = timeline_of(sessions);
  EXPECT_THAT(timeline.begins, ElementsAre(0, 4, 12));
  EXPECT_EQ(timeline.seconds, 17);
}

TEST(Report, KeepsWhatMattersOfManyTrials) {
  std::vector<Record> records;
  Rng rng(7);
  double best = INFINITY;
  std::int64_t improvements = 0;
  for (int i = 0; i < 3000; ++i) {
    const double us = i % 100 == 99 ? 0 : 10 + 90 * rng.uniform();
    records.push_back(trial("w", i % 7, i % 5, us));
    if (us == 0)
      records.back().outcome = Failure{i < 1000 ? FailureKind::kCompile : FailureKind::kCrash, "it", {}};
    if (us > 0 && us < best) {
      best = us;
      ++improvements;
    }
  }
  const std::vector<Session> sessions = sessions_of(records, {});
  const json cut = trials_of(records, sessions, 100);
  EXPECT_EQ(cut["total"], 3000);
  EXPECT_EQ(cut["shown"], 100 + improvements + 2);
  EXPECT_EQ(cut["best_us"].back(), best);
  EXPECT_GT(std::ranges::count(cut["failure"], json("crash")), 0);
  EXPECT_EQ(cut["knobs"]["x"].size(), cut["shown"]);
  EXPECT_EQ(cut["names"]["gemm_cpu"], json::parse(R"(["x", "y"])"));
  const auto order = cut["order"].get<std::vector<std::int64_t>>();
  std::int64_t most = 0;
  for (std::size_t i = 1; i < order.size(); ++i) most = std::max(most, order[i] - order[i - 1]);
  EXPECT_LT(most, 40) << "those that are left lie evenly";
  for (const std::int64_t all : {0, 3000, 5000}) EXPECT_EQ(trials_of(records, sessions, all)["shown"], 3000);
}

/// 8 000 trials make a page whose size does not follow their number.
TEST(Report, TellsALargeLog) {
  const TempDir folder;
  {
    Rng rng(5);
    Database log = Database::open(folder / "a.db");
    test::add_trials(log, 8'000, [&](int i) {
      return trial(gemm(64), i % 7, i % 5, i % 50 == 49 ? 0 : 10 + 90 * rng.uniform());
    });
  }
  const Document document = read_one(folder / "a.db");
  ASSERT_EQ(document.tasks.size(), 1u);
  const json& task = document.tasks[0].reported;
  EXPECT_EQ(task["trials"]["total"], 8'000);
  EXPECT_EQ(task["failures"][0]["count"], 160);
  EXPECT_LT(task["trials"]["shown"], 5100);
  EXPECT_LT(page_of(document).size(), 3'000'000u);
}

TEST(Report, KnowsWhichKnobMatters) {
  std::vector<Record> records;
  Rng rng(3);
  for (int i = 0; i < 400; ++i) {
    const int x = static_cast<int>(rng.below(4)), y = static_cast<int>(rng.below(4));
    records.push_back(trial("w", x, y, 10 * (1 + x) * (1 + 0.02 * rng.uniform())));
  }
  const json knobs = knobs_of(records, {"gemm_cpu", {{"x", 0}, {"y", 1}}});
  ASSERT_EQ(knobs.size(), 2u);
  EXPECT_EQ(knobs[0]["name"], "x");
  EXPECT_GT(knobs[0]["importance"], 0.99);
  EXPECT_LT(knobs[1]["importance"], 0.03);
  EXPECT_EQ(knobs[0]["values"], json::parse("[0, 1, 2, 3]"));
  EXPECT_NEAR(knobs[0]["best_us"][3].get<double>(), 40, 1);
  EXPECT_EQ(knobs[1]["winner"], 1);
}

TEST(Report, TellsWhatTheNeighboursCost) {
  const Config winner = {"gemm_cpu", {{"x", 1}, {"y", 2}}};
  const std::vector<Record> records = {trial("w", 1, 2, 10), trial("w", 1, 3, 12), trial("w", 1, 3, 15),
                                       trial("w", 4, 2, 20), trial("w", 4, 3, 5),  trial("w", 5, 2, 0)};
  EXPECT_EQ(neighbours_of(records, winner),
            json::parse(R"([{"knob": "x", "from": 1, "to": 4, "time_us": 20.0, "ratio": 2.0},
                            {"knob": "y", "from": 2, "to": 3, "time_us": 12.0, "ratio": 1.2}])"));
}

TEST(Report, ComparesLogs) {
  const TempDir folder;
  fill(folder / "a.db");
  fill(folder / "b.db");
  {
    Database later = Database::open(folder / "b.db");
    Record record = later.append(trial(gemm(64), 9, 9, 4, "two"));
    StoredVerdict verdict = verdict_of(record, {2, {1.9, 2.1}});
    verdict.best = {5, {4.9, 5.1}};
    later.append(verdict);
    later.append(trial(gemm(8), 1, 1, 3));
  }
  const Document document = read(
      {.logs = {(folder / "a.db").string(), (folder / "b.db").string()}, .applied = {}, .most_others = 0});
  ASSERT_EQ(document.changes.size(), 1u);
  std::map<std::string, std::string> words;
  for (const json& task : document.changes[0]["tasks"]) words[task["workload"]] = task["word"];
  EXPECT_EQ(words.at(gemm(64)), "faster");
  EXPECT_EQ(words.at(gemm(32)), "unproven");
  EXPECT_EQ(words.at(gemm(8)), "new");
  const json back = change_between(document, 1, 0);
  for (const json& task : back["tasks"]) words[task["workload"]] = task["word"];
  EXPECT_EQ(words.at(gemm(64)), "slower");
  EXPECT_EQ(words.at(gemm(8)), "gone");
}

constexpr const char* kApplied = R"({"model": "net.onnx", "folder": "faster", "engine": "1.32.0",
  "original_us": 100, "rewritten_us": 80, "places": 3, "replaced": 2, "covered_share": 0.7,
  "not_covered": [{"operator": "Softmax", "share": 0.3}], "reasons": {"no kernel": 1}, "layers": [
  {"node": "a", "operator": "MatMul", "workload": "W", "kernel": true, "before_us": 20, "after_us": 10},
  {"node": "b", "operator": "MatMul", "workload": "W", "kernel": false, "before_us": 30, "after_us": 30},
  {"node": "c", "operator": "Softmax", "workload": null, "kernel": false, "before_us": 30, "after_us": 30}]})";

TEST(Report, JoinsANetworkWithItsLog) {
  const TempDir folder;
  fill(folder / "a.db");
  std::filesystem::create_directory(folder / "faster");
  std::string text = kApplied;
  while (text.find("\"W\"") != std::string::npos) text.replace(text.find("\"W\""), 3, '"' + gemm(64) + '"');
  test::write_bytes(folder / "faster" / kAppliedDocument, text);
  const Document document = read(
      {.logs = {(folder / "a.db").string()}, .applied = {(folder / "faster").string()}, .most_others = 0});
  const json& matches = document.networks.at(0)["matches"];
  ASSERT_EQ(matches.size(), 1u);
  EXPECT_EQ(matches[0]["occurrences"], 2);
  EXPECT_EQ(matches[0]["kernels"], 1);
  EXPECT_EQ(matches[0]["before_us"], 50);
  EXPECT_EQ(matches[0]["best_us"], 10);
  EXPECT_EQ(matches[0]["default_us"], 13);
  EXPECT_EQ(matches[0]["library"], "openblas");
  EXPECT_EQ(document.tasks.at(matches[0]["task"]).workload, gemm(64));
  EXPECT_THAT(figures_of(document), HasSubstr("coverage-0"));

  std::vector<std::string> all_wrong = {"{}", "[", R"({"layers": 3})", R"({"layers": [{}]})"};
  for (const char* member : {"model", "reasons", "layers", "not_covered"}) {
    json wrong = json::parse(kApplied);  // the page takes each of these for what it should be
    wrong[member] = 3;
    all_wrong.push_back(wrong.dump());
  }
  for (const std::string& wrong : all_wrong) {
    test::write_bytes(folder / "faster" / kAppliedDocument, wrong);
    EXPECT_THAT(error_of([&] { read_network((folder / "faster").string(), {}); }).message,
                HasSubstr("applied.json is not as lehr apply writes it"));
  }
  EXPECT_THAT(error_of([&] { read_network(folder.path().string(), {}); }).message,
              HasSubstr("it has no applied.json"));
}

TEST(Report, DrawsWhatIsAboveTheRoof) {
  Document document;
  document.tasks.emplace_back().reported = {{"phases", json::array()},
                                            {"roofline",
                                             {{"peak_gflops", 100},
                                              {"peak_gbytes_per_s", 10},
                                              {"intensity", 20},
                                              {"points", {{{"name", "best"}, {"gflops", 300}}}}}}};
  EXPECT_THAT(figures_of(document), AllOf(HasSubstr("best: 300.0 GFLOP/s"), Not(HasSubstr("cy=\"-"))));
}

/// A trial that outdoes the verdict was in no contest with the libraries.
TEST(Report, TellsLibrariesOfTheirOwnContest) {
  const TempDir folder;
  fill(folder / "a.db");
  EXPECT_EQ(task_of(read_one(folder / "a.db"), gemm(64)).reported["libraries"].size(), 2u);
  Database::open(folder / "a.db").append(trial(gemm(64), 9, 9, 4, "two"));
  const json task = task_of(read_one(folder / "a.db"), gemm(64)).reported;
  EXPECT_EQ(task["winner"]["contested"], false);
  EXPECT_EQ(task["libraries"], json::array());
}

TEST(Report, PutsMergedTrialsWhereTheyWere) {
  const TempDir folder;
  {
    Database log = Database::open(folder / "a.db");
    for (const auto& [session, us, ms] : {std::tuple("two", 4.0, 2'003'000), {"one", 5.0, 1'001'000}}) {
      Record record = trial(gemm(64), 1, 1, us, session);
      record.created_unix_ms = ms;
      log.append(record);
    }
  }
  const json trials = task_of(read_one(folder / "a.db"), gemm(64)).reported["trials"];
  EXPECT_EQ(trials["time_us"], json::parse("[5, 4]"));
  EXPECT_EQ(trials["seconds"], json::parse("[1, 4]"));
}

TEST(Report, KeepsTheOrderOfKnobs) {
  std::vector<Record> records = {trial(gemm(64), 1, 1, 5), trial(gemm(64), 1, 1, 4)};
  records[0].config.knobs = {{"y", 1}, {"b", 2}};
  records[1].config.knobs = {{"y", 1}, {"c", 3}, {"b", 2}};  // of another version
  const json trials = trials_of(records, sessions_of(records, {}), 0);
  EXPECT_EQ(trials["names"]["gemm_cpu"], json::parse(R"(["y", "b", "c"])"));
}

TEST(Report, LetsNoTextOutOfItsMatch) {
  const TempDir folder;
  {
    Database log = Database::open(folder / "a.db");
    Record record = trial("</script><img src=x onerror=alert(1)><!--", 1, 1, 5);
    record.picked_by = "<script>";
    log.append(record);
  }
  const std::string page = page_of(read_one(folder / "a.db"));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, HasSubstr("\\u003c/script>"));
  EXPECT_THAT(page, HasSubstr("default-src 'none'; script-src 'sha256-"));
}

/// Whatever a log can hold has a page.
TEST(Report, TellsAnyLog) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const TempDir folder;
    {
      Rng rng(seed);
      Database log = Database::open(folder / "a.db");
      for (int i = 0; i < 30; ++i) {
        Record record = test::random_record(rng);
        if (i > 0 && rng.below(2) == 0) record.workload = gemm(64);
        record = log.append(record);
        StoredVerdict verdict = verdict_of(record, {rng.below(2) == 0 ? INFINITY : 1e-300, {1e-308, 1e308}});
        const char* const kTexts[] = {
            "", "[1, 2", "[]", R"({"baselines": {"a": 1}, "elapsed_s": [1], "peaks": 3})",
            R"({"baselines": [3, {"name": 4}], "peaks": {"gflops": 1e308, "gbytes_per_s": "x"}})"};
        verdict.json = kTexts[rng.below(std::size(kTexts))];
        if (rng.below(2) == 0) log.append(verdict);
      }
    }
    EXPECT_THAT(page_of(read_one(folder / "a.db")), HasSubstr("</html>"));
  }
}

TEST(Report, SaysWhatIsMissing) {
  const TempDir folder;
  {
    Database::open(folder / "empty.db");
  }
  EXPECT_THAT(error_of([&] { read_one(folder / "empty.db"); }).message, HasSubstr("holds no trial"));
  EXPECT_THAT(error_of([&] { read_one(folder / "none.db"); }).message, HasSubstr("none.db"));
}

}  // namespace
}  // namespace lehr::report
