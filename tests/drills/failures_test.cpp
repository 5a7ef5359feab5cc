// Tests a session with a thousand failures: candidates that crash, hang, compute wrong results or do not
// compile, among good ones, through real workers. The session ends by its own rule, every failure is a row
// with its kind and text, the fastest right kernel wins, and nothing is left behind.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <set>

#include "base/rng.h"
#include "base/text.h"
#include "database/database.h"
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
// The good ones sleep for 4 to 8 times half a millisecond, the fastest once: no machine's speed decides the
// test.
constexpr int kSlower = 4, kSlowest = 8, kFastest = 8;

enum class Fate { kGood, kCrash, kHang, kWrong, kUncompiled };
struct Plan {
  Fate fate = Fate::kGood;
  int times = kSlowest;
};

int index_of(const Config& config) {
  return static_cast<int>(config.at("row") * kColumns + config.at("column"));
}

/// Draws what each config does. The default, number 0, is good and slow.
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
  Candidates candidates = {.space = Space(std::move(families)), .defaults = {Point{}}};  // row 0, column 0
  lower_by([family](const Point& point) { return drill_kernel(family.config_of(point)); },
           toy_task().device.limits, candidates);
  candidates.version_of = [](std::string_view) { return 1; };
  return candidates;
}

/// Returns the function that a config's entry is an alias of.
std::string function_of(const Plan& plan, int config) {
  if (plan.fate == Fate::kCrash) return "crash";
  if (plan.fate == Fate::kHang) return config % 2 == 0 ? "hang" : "spin";
  if (plan.fate == Fate::kWrong) return "wrong";
  return fmt::format("good{}", std::max(1, plan.times));
}

/// Returns one shared object with the entries of all configs, each an alias of what its plan says: a thousand
/// runs of the system's compiler would take minutes and show nothing more.
std::string library_text(const std::vector<Plan>& plans) {
  std::string text = R"(
extern "C" int usleep(unsigned);
static inline void product(void* const* p, int times) {
  const float* a = (const float*)p[0]; const float* b = (const float*)p[1]; float* c = (float*)p[2];
  for (long i = 0; i < 8; ++i)
    for (long j = 0; j < 8; ++j) {
      float sum = 0;
      for (long k = 0; k < 8; ++k) sum += a[i * 8 + k] * b[k * 8 + j];
      c[i * 8 + j] = sum;
    }
  usleep(500 * times);
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
    const std::string what = function_of(plans[static_cast<std::size_t>(i)], i);
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
      return "ran longer than ";
    case Fate::kWrong:
      return "element 5 is ";
    default:
      return "error: injected into drill_";
  }
}

TEST(Drill, AThousandFailuresInOneSessionCostNothingButTheirTime) {
  const std::vector<Plan> plans = draw_plans(7);
  const TempDir directory;
  const std::string file = directory.path() + "/log.db";
  Summary summary;
  {
    DrillCompiler compiler(plans);
    ASSERT_TRUE(compiler.works());
    LocalOptions options;
    options.worker.program = LEHR_MEASURE_WORKER;
    options.run_timeout_s = kRunLimitS;
    options.compile_jobs = 8;
    options.sampling = {.sample_us = 200, .min_samples = 3, .min_total_us = 1000, .max_total_us = 5000};
    OpenDevice device;
    device.measurer = std::make_unique<LocalMeasurer>(compiler, options);
    const Task task = toy_task();
    const Candidates candidates = drill_candidates();
    Database database = Database::open(file);
    Tuner tuner;
    tuner.strategy = make_strategy("random", candidates.space);
    tuner.row_of = candidates.row_of;
    tuner.columns = candidates.columns;
    SessionOptions session;
    session.strategy = "random";
    session.session_id = "drill";
    summary = Session(task, candidates, device, {database}, session, std::move(tuner)).run();
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
}

}  // namespace
}  // namespace lehr::testing
