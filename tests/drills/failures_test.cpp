// A thousand failures in one session: candidates that crash, hang, compute wrong results or do not compile,
// among good ones, through real workers. The session ends by its own rule, every failure is a row with its
// kind and text, the fastest right kernel wins, and nothing is left behind.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>

#include "base/rng.h"
#include "base/text.h"
#include "database/database.h"
#include "measure/core/stats.h"
#include "measure/host/host_compiler.h"
#include "measure/worker/local_measurer.h"
#include "search/make_strategy.h"
#include "toy_task.h"
#include "tune/session.h"

namespace lehr::testing {
namespace {

using ::testing::HasSubstr;

constexpr int kRows = 35, kColumns = 40, kConfigs = kRows * kColumns;
constexpr int kCrashes = 440, kHangs = 30, kWrong = 300, kUncompiled = 230;
constexpr int kFailures = kCrashes + kHangs + kWrong + kUncompiled;
static_assert(kFailures == 1000 && kFailures < kConfigs);
constexpr double kRunLimitS = 0.5;
// The good ones compute their product 4 to 8 times over, the fastest once. There are several of those, and
// the others are far slower: a machine that stops for the milliseconds of one trial, or works for others for
// half a minute and halves what it gives to this test, would otherwise decide the test.
constexpr int kSlower = 4, kSlowest = 8, kFastest = 8;

enum class Fate { kGood, kCrash, kHang, kWrong, kUncompiled };
struct Plan {
  Fate fate = Fate::kGood;
  int times = kSlowest;
};

int index_of(const Config& config) {
  return static_cast<int>(config.at("row") * kColumns + config.at("column"));
}

/// What becomes of each config; the default, number 0, is good and slow.
std::vector<Plan> draw_plans(std::uint64_t seed) {
  std::vector<Plan> plans;
  const auto add = [&](Fate fate, int count) {
    plans.resize(plans.size() + static_cast<std::size_t>(count), {fate, 0});
  };
  add(Fate::kCrash, kCrashes);
  add(Fate::kHang, kHangs);
  add(Fate::kWrong, kWrong);
  add(Fate::kUncompiled, kUncompiled);
  Rng rng(seed);
  for (int good = 0; good < kConfigs - kFailures - 1; ++good)
    plans.push_back(
        {Fate::kGood, good < kFastest ? 1 : kSlower + static_cast<int>(rng.below(kSlowest - kSlower + 1))});
  for (std::size_t i = plans.size() - 1; i > 0; --i)
    std::swap(plans[i], plans[static_cast<std::size_t>(rng.uniform() * static_cast<double>(i + 1))]);
  plans.insert(plans.begin(), Plan{});
  return plans;
}

ir::Kernel drill_kernel(const Config& config) {
  ir::KernelBuilder builder;
  builder.kernel.name = fmt::format("drill_{}", index_of(config));
  builder.kernel.target = Target::kCpu;
  builder.param("a", DType::kF32, 64, ir::Direction::kIn);
  builder.param("b", DType::kF32, 64, ir::Direction::kIn);
  const ir::BufferId c = builder.param("c", DType::kF32, 64, ir::Direction::kOut);
  const ir::VarId i = builder.var("i");
  builder.kernel.body = ir::block(ir::loop(
      i, 64, ir::LoopKind::kSerial,
      ir::block(ir::Store{
          .buffer = c, .index = ir::var(i), .value = ir::zero(DType::kF32), .lanes = 1, .active = {}})));
  return std::move(builder.kernel);
}

Candidates drill_candidates() {
  FamilySpace family("drill");
  std::vector<std::int64_t> rows(kRows), columns(kColumns);
  for (int i = 0; i < kRows; ++i) rows[static_cast<std::size_t>(i)] = i;
  for (int i = 0; i < kColumns; ++i) columns[static_cast<std::size_t>(i)] = i;
  family.add("row", "which row of the plan", rows);
  family.add("column", "which column of the plan", columns);
  std::vector<FamilySpace> families;
  families.push_back(family);
  return {.space = Space(std::move(families)),
          .defaults = {Point{}},  // row 0, column 0
          .lower = [family](const Point& point) { return drill_kernel(family.config_of(point)); },
          .version_of = [](std::string_view) { return 1; }};
}

/// One shared object with the entries of all configs, each an alias of what its plan says: a thousand runs of
/// the system's compiler would take minutes and show nothing more.
std::string library_text(const std::vector<Plan>& plans) {
  std::string text = R"(
static inline void product(void* const* p, int times) {
  const float* a = (const float*)p[0]; const float* b = (const float*)p[1]; float* c = (float*)p[2];
  for (int t = 0; t < 100 * times; ++t)
    for (long i = 0; i < 8; ++i)
      for (long j = 0; j < 8; ++j) {
        float sum = 0;
        for (long k = 0; k < 8; ++k) sum += a[i * 8 + k] * b[k * 8 + j];
        *(volatile float*)&c[i * 8 + j] = sum;
      }
}
extern "C" int pause();
extern "C" void crash(void* const*, void*, long) { *(volatile int*)16 = 1; }
extern "C" void hang(void* const*, void*, long) { for (;;) pause(); }
extern "C" void spin(void* const*, void*, long) { for (volatile int i = 0;;) i = i + 1; }
extern "C" void wrong(void* const* p, void*, long) { product(p, 1); ((float*)p[2])[5] += 1; }
)";
  for (int times = 1; times <= kSlowest; ++times)
    text +=
        fmt::format("extern \"C\" void good{0}(void* const* p, void*, long) {{ product(p, {0}); }}\n", times);
  for (int i = 0; i < kConfigs; ++i) {
    const Plan& plan = plans[static_cast<std::size_t>(i)];
    const std::string what = plan.fate == Fate::kCrash   ? "crash"
                             : plan.fate == Fate::kHang  ? (i % 2 == 0 ? "hang" : "spin")
                             : plan.fate == Fate::kWrong ? "wrong"
                                                         : fmt::format("good{}", std::max(1, plan.times));
    text += fmt::format(
        "extern \"C\" void drill_{}(void* const*, void*, long) __attribute__((alias(\"{}\")));\n", i, what);
  }
  return text;
}

class DrillCompiler : public Compiler {
 public:
  explicit DrillCompiler(const std::vector<Plan>& plans) : plans_(plans) {
    Source all;
    all.text = library_text(plans);
    library_ = real_.compile({&all, 1})[0];
  }
  bool works() const { return std::holds_alternative<Binary>(library_); }

  std::vector<Compiled> compile(std::span<const Source> sources, double) override {
    std::vector<Compiled> results;
    for (const Source& source : sources) {
      const auto number = parse_int(source.entry.substr(6));  // after "drill_"
      if (plans_[static_cast<std::size_t>(number.value())].fate == Fate::kUncompiled) {
        results.push_back(Failure{FailureKind::kCompile, "error: injected into " + source.entry, {}});
        continue;
      }
      Binary binary = std::get<Binary>(library_);
      const std::string original = binary.path;
      binary.path = fmt::format("{}/{}.so", directory_.path(), made_++);
      std::filesystem::copy_file(original, binary.path);
      results.push_back(binary);
    }
    return results;
  }
  std::string identity() const override { return "drill"; }

 private:
  const std::vector<Plan>& plans_;
  HostCompiler real_;
  Compiled library_;
  TempDir directory_;
  int made_ = 0;
};

/// Passes on, and clocks what a trial costs beyond its own run (Timing::run_s) where nothing was compiled
/// before it.
class ClockedMeasurer : public Measurer {
 public:
  explicit ClockedMeasurer(Measurer& measurer) : measurer_(measurer) {}
  void prepare(const Problem& problem, const std::optional<Problem>& other,
               const std::optional<PlainSource>& plain) override {
    measurer_.prepare(problem, other, plain);
  }
  std::size_t measure(const NextSource& next, const std::function<void(std::size_t, const Outcome&)>& done,
                      TimeLeft left) override {
    Clock::time_point last = Clock::now();
    const auto clocked = [&](std::size_t i, const Outcome& outcome) {
      const double took_s = std::chrono::duration<double>(Clock::now() - last).count();
      const auto* timing = std::get_if<Timing>(&outcome);
      if (timing != nullptr && static_cast<int>(i) % slots() != 0)
        (lost_ ? after_loss_ms : overhead_ms).push_back(1e3 * (took_s - timing->run_s));
      const auto* failure = std::get_if<Failure>(&outcome);
      if (failure == nullptr || failure->kind != FailureKind::kCompile)
        lost_ = failure != nullptr && failure->kind != FailureKind::kWrongResult;
      done(i, outcome);
      last = Clock::now();
    };
    return measurer_.measure(next, clocked, left);
  }
  int slots() const override { return measurer_.slots(); }
  std::vector<ContestEntry> contest(std::span<const Source> sources, std::span<const Challenger> challengers,
                                    std::span<const std::string> baselines, ContestTime time) override {
    return measurer_.contest(sources, challengers, baselines, time);
  }
  std::optional<Failure> prove(std::size_t source, Inputs inputs, double seconds) override {
    return measurer_.prove(source, inputs, seconds);
  }
  std::variant<Repetition, Failure> repeat(const Source& source) override { return measurer_.repeat(source); }
  Spent spent() const override { return measurer_.spent(); }

  std::vector<double> overhead_ms;    ///< of good trials whose worker was there
  std::vector<double> after_loss_ms;  ///< of those that waited for a new one

 private:
  using Clock = std::chrono::steady_clock;
  Measurer& measurer_;
  bool lost_ = false;
};

FailureKind kind_of(Fate fate) {
  switch (fate) {
    case Fate::kCrash:
      return FailureKind::kCrash;
    case Fate::kHang:
      return FailureKind::kTimeout;
    case Fate::kWrong:
      return FailureKind::kWrongResult;
    default:
      return FailureKind::kCompile;
  }
}

const char* words_of(Fate fate) {
  switch (fate) {
    case Fate::kCrash:
      return "SIGSEGV (invalid memory access)";
    case Fate::kHang:
      return "ran longer than 0.5";
    case Fate::kWrong:
      return "element 5 is ";
    default:
      return "error: injected into drill_";
  }
}

TEST(Drill, AThousandFailuresInOneSessionCostNothingButTheirTime) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Plan> plans = draw_plans(7);
  const TempDir directory;
  const std::string file = directory.path() + "/log.db";
  Summary summary;
  std::vector<double> overhead_ms, after_loss_ms;
  {
    DrillCompiler compiler(plans);
    ASSERT_TRUE(compiler.works());
    LocalOptions options;
    options.worker.program = LEHR_MEASURE_WORKER;
    options.run_timeout_s = kRunLimitS;
    options.compile_jobs = 8;
    options.sampling = {.sample_us = 200, .min_samples = 3, .min_total_us = 1000, .max_total_us = 5000};
    LocalMeasurer real(compiler, options);
    auto owned = std::make_unique<ClockedMeasurer>(real);
    ClockedMeasurer& measurer = *owned;
    OpenDevice device;
    device.measurer = std::move(owned);
    const Task task = toy_task();
    const Candidates candidates = drill_candidates();
    Database database = Database::open(file);
    Tuner tuner;
    tuner.strategy = make_strategy("random", candidates.space);
    tuner.row_of = kernel_rows(candidates, task.device.limits);
    tuner.columns = feature_table().size();
    SessionOptions session;
    session.strategy = "random";
    session.session_id = "drill";
    summary = Session(task, candidates, device, {database}, session, std::move(tuner)).run();
    overhead_ms = measurer.overhead_ms;
    after_loss_ms = measurer.after_loss_ms;
  }
  EXPECT_EQ(summary.stop, StopReason::kExhausted);
  EXPECT_EQ(summary.measured, kConfigs);
  ASSERT_TRUE(summary.best);
  EXPECT_EQ(plans[static_cast<std::size_t>(index_of(summary.best->config))].times, 1)
      << to_text(summary.best->config);
  EXPECT_TRUE(summary.contested);

  std::map<FailureKind, int> stored;
  const Database database = Database::open_read_only(file);
  EXPECT_TRUE(database.verify().sound());
  std::set<int> seen;
  for (const Record& row : database.all({})) {
    const Plan& plan = plans[static_cast<std::size_t>(index_of(row.config))];
    EXPECT_TRUE(seen.insert(index_of(row.config)).second) << to_text(row.config);
    const auto* failure = std::get_if<Failure>(&row.outcome);
    ASSERT_EQ(failure != nullptr, plan.fate != Fate::kGood)
        << to_text(row.config) << (failure ? ": " + failure->text : "");
    if (failure == nullptr) continue;
    ++stored[failure->kind];
    EXPECT_EQ(failure->kind, kind_of(plan.fate)) << to_text(row.config) << ": " << failure->text;
    EXPECT_THAT(failure->text, HasSubstr(words_of(plan.fate)));
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kConfigs));
  EXPECT_EQ(stored, summary.failed);
  EXPECT_EQ(stored[FailureKind::kCrash] + stored[FailureKind::kTimeout] + stored[FailureKind::kWrongResult] +
                stored[FailureKind::kCompile],
            kFailures);

  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a process was left behind";
  EXPECT_EQ(errno, ECHILD);

  ASSERT_GT(overhead_ms.size(), 50U);
  ASSERT_GT(after_loss_ms.size(), 50U);
  EXPECT_LT(median(overhead_ms), 10);
  fmt::print(
      "drill: {} failures ({} crashes, {} hangs, {} wrong results, {} compile failures) among {} trials in "
      "{:.1f} s; "
      "isolation costs a good trial {:.2f} ms (median; 90 %: {:.2f} ms), {:.2f} ms where a lost worker was "
      "replaced\n",
      kFailures, kCrashes, kHangs, kWrong, kUncompiled, kConfigs,
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), median(overhead_ms),
      percentile(overhead_ms, 0.9), median(after_loss_ms));
}

}  // namespace
}  // namespace lehr::testing
