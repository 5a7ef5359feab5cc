// Tests of a program that tunes by api/lehr.h: results, errors, many threads, an end that is asked for.
#include "api/lehr.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "api/boundary.h"
#include "measure/system/temp_dir.h"
#include "tune/events.h"

namespace lehr::api {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kSmall = "gemm m=32 n=32 k=32";

DeviceOptions one_thread(const std::atomic<bool>* stop = nullptr) {
  DeviceOptions options;
  options.device = "cpu";
  options.threads = 1;
  options.jobs = 1;
  options.stop = stop;
  return options;
}

TuneOptions few_trials(int trials) {
  TuneOptions options;
  options.trials = trials;
  options.baselines = "none";
  return options;
}

std::pair<Code, std::string> error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {Code::kDone, ""};
}

class Api : public ::testing::Test {
 protected:
  std::string in(const std::string& name) const { return folder_.path() + "/" + name; }

 private:
  TempDir folder_;
};

TEST_F(Api, TunesAndTellsAllThatTheCommandPrints) {
  Device device(one_thread());
  Log log(in("log.db"));
  TuneOptions options = few_trials(4);
  int trials = 0;
  std::string last;
  options.on_progress = [&](const Progress& progress) {
    trials += progress.kind == Progress::Kind::kTrial || progress.kind == Progress::Kind::kNewBest;
    last = progress.text;
  };
  const Result result = tune(kSmall, device, log, options);
  EXPECT_EQ(result.code, Code::kDone) << result.failure;
  EXPECT_THAT(result.workload, StartsWith(kSmall));
  EXPECT_THAT(result.config, StartsWith("gem"));
  EXPECT_GT(result.best.us, 0);
  EXPECT_LE(result.best.low, result.best.us);
  EXPECT_GE(result.trials, 4);
  EXPECT_GE(trials, 4);
  EXPECT_FALSE(last.empty());
  EXPECT_THAT(result.text, HasSubstr("result "));
  const auto document = nlohmann::json::parse(result.json);
  EXPECT_EQ(document["workload"], result.workload);
  EXPECT_EQ(document["best"]["time_us"], result.best.us);
  EXPECT_EQ(document["database"], log.path());
}

TEST_F(Api, ExportsWhatItHasTuned) {
  Device device(one_thread());
  Log log(in("log.db"));
  tune(kSmall, device, log, few_trials(2));
  ExportOptions options;
  options.log = log.path();
  options.out = in("kernels");
  EXPECT_EQ(export_kernels(options).kernels, 1);
  EXPECT_TRUE(std::filesystem::exists(in("kernels/manifest.json")));
  const auto [code, sentence] = error_of([&] { export_kernels(options); });
  EXPECT_EQ(code, Code::kWrongInput);
  EXPECT_THAT(sentence, HasSubstr("or pass replace if lehr wrote it"));
  options.replace = true;
  EXPECT_EQ(export_kernels(options).kernels, 1);
  options.log = in("none.db");
  EXPECT_EQ(error_of([&] { export_kernels(options); }).first, Code::kWrongInput);
  EXPECT_TRUE(std::filesystem::exists(in("kernels/manifest.json")));
}

TEST_F(Api, SaysInASentenceWhatIsWrong) {
  const auto wrong_device = error_of([] { Device({.device = "tpu"}); });
  EXPECT_EQ(wrong_device.first, Code::kWrongInput);
  EXPECT_THAT(wrong_device.second, HasSubstr("tpu"));
  DeviceOptions no_program = one_thread();
  no_program.tools.program = in("nothing");
  const auto missing = error_of([&] {
    Device device(no_program);
    Log log(in("other.db"));
    tune(kSmall, device, log, few_trials(1));
  });
  EXPECT_EQ(missing.first, Code::kMissing);
  EXPECT_THAT(missing.second, HasSubstr(in("nothing")));
  Device device(one_thread());
  Log log(in("log.db"));
  EXPECT_EQ(error_of([&] { tune("gemm m=0", device, log); }).first, Code::kWrongInput);
  EXPECT_EQ(error_of([&] { tune("gemm m=8 n=8 k=8 a=f8e4m3", device, log); }).first, Code::kWrongInput);
  EXPECT_NE(device.why_not_served("gemm m=8 n=8 k=8 a=f16 b=f16 c=f16"), "");
  EXPECT_EQ(device.why_not_served(kSmall), "");
  EXPECT_EQ(error_of([&] { tune(NetworkFile{in("none.onnx")}, device, log); }).first, Code::kWrongInput);
  EXPECT_FALSE(std::filesystem::exists(log.path())) << "nothing was measured, and a log was made";
}

// A time limit of NaN once was no limit, and an empty name a filesystem_error.
TEST_F(Api, SaysOfEachWrongMemberInASentenceWhatItIs) {
  Device device(one_thread());
  Log log(in("log.db"));
  const NetworkFile model = {LEHR_MODEL, {{"batch", 1}}};
  const auto refused = [&](const char* member, const std::function<void()>& call) {
    const auto [code, sentence] = error_of(call);
    EXPECT_EQ(code, Code::kWrongInput) << member << ": " << sentence;
    EXPECT_THAT(sentence, AllOf(StartsWith(member), Not(HasSubstr("--")))) << member;
  };
  const auto opening = [&](const char* member, auto pointer, auto value) {
    DeviceOptions options = one_thread();
    options.*pointer = value;
    refused(member, [&] { Device another(options); });
  };
  const auto tuning = [&](const char* member, auto pointer, auto value) {
    TuneOptions options = few_trials(1);
    options.*pointer = value;
    refused(member, [&] { tune(kSmall, device, log, options); });
    if (std::string(member) != "kernels") refused(member, [&] { tune(model, device, log, options); });
  };
  const auto applying = [&](const char* member, auto pointer, auto value) {
    ApplyOptions options;
    options.bundle = in("kernels");
    options.out = in("faster");
    options.*pointer = value;
    refused(member, [&] { apply(model, options); });
  };
  const auto optimizing = [&](const char* member, auto pointer, auto value) {
    OptimizeOptions options;
    options.log = in("log.db");
    options.out = in("faster");
    options.*pointer = value;
    refused(member, [&] { optimize(model, options); });
  };
  opening("device", &DeviceOptions::device, "tpu");
  opening("isa", &DeviceOptions::isa, "x86-64-v9");
  opening("threads", &DeviceOptions::threads, -1);
  opening("jobs", &DeviceOptions::jobs, -1);
  for (const double wrong : {std::nan(""), std::numeric_limits<double>::infinity(), -1.0}) {
    opening("run_timeout_s", &DeviceOptions::run_timeout_s, wrong);
    tuning("time_s", &TuneOptions::time_s, wrong);
    applying("time_s", &ApplyOptions::time_s, wrong);
    applying("tolerance", &ApplyOptions::tolerance, wrong);
    optimizing("time_s", &OptimizeOptions::time_s, wrong);
    optimizing("tolerance", &OptimizeOptions::tolerance, wrong);
  }
  tuning("trials", &TuneOptions::trials, -1);
  tuning("patience", &TuneOptions::patience, -1);
  tuning("strategy", &TuneOptions::strategy, "gradient");
  tuning("baselines", &TuneOptions::baselines, "mkl");
  tuning("precision", &TuneOptions::precision, "f64");
  applying("threads", &ApplyOptions::threads, -1);
  applying("precision", &ApplyOptions::precision, "f64");
  applying("out", &ApplyOptions::out, "");
  applying("bundle", &ApplyOptions::bundle, "");
  optimizing("threads", &OptimizeOptions::threads, -1);
  optimizing("precision", &OptimizeOptions::precision, "f64");
  optimizing("out", &OptimizeOptions::out, "");
  refused("kernels", [&] { tune("gemm m=1..2 n=8 k=8", device, log, {.trials = 1, .kernels = -1}); });
  refused("deterministic_check",
          [&] { tune("gemm m=1..2 n=8 k=8", device, log, {.deterministic_check = true}); });
  refused("file", [&] { tune(NetworkFile{}, device, log); });
  refused("dims", [&] { tune(NetworkFile{LEHR_MODEL, {{"batch", 0}}, {}}, device, log); });
  refused("inputs", [&] { tune(NetworkFile{LEHR_MODEL, {}, {{"x", {1, -3, 8, 8}}}}, device, log); });
  refused("out", [&] { export_kernels({.log = in("log.db")}); });
  refused("the log has no name", [&] { export_kernels({.out = in("kernels")}); });
  refused("the log has no name", [&] {
    Log nameless("");
    tune(kSmall, device, nameless, few_trials(1));
  });
  refused("there is no workload", [&] { tune(std::vector<std::string>(), device, log); });
  EXPECT_FALSE(std::filesystem::exists(log.path())) << "nothing was measured, and a log was made";
}

TEST_F(Api, ThrowsNothingButItsErrorWhateverIsAsked) {
  Device device(one_thread());
  Log log(in("log.db")), folder("/"), nowhere(in("none/log.db"));
  std::ofstream(in("file")) << "text";
  const NetworkFile model = {LEHR_MODEL, {{"batch", 1}}};
  const auto fails = [&](const char* what, const std::function<void()>& call) {
    EXPECT_NE(error_of(call).first, Code::kDone) << what;
  };
  fails("a log that is a folder", [&] { tune(kSmall, device, folder, few_trials(1)); });
  fails("a log in no folder", [&] { tune(kSmall, device, nowhere, few_trials(1)); });
  fails("a text that is no workload", [&] { tune(std::string("gemm \0\xff", 7), device, log); });
  fails("the same asked of the device", [&] { device.why_not_served("\xff"); });
  fails("another log that is not there",
        [&] { tune(kSmall, device, log, {.trials = 1, .transfer = in("none.db"), .baselines = "none"}); });
  fails("a model that is a folder", [&] { tune(NetworkFile{"/"}, device, log); });
  fails("a model that is a text", [&] { tune(NetworkFile{in("file")}, device, log); });
  fails("a dimension of no input", [&] { tune(NetworkFile{LEHR_MODEL, {{"none", 1}}}, device, log); });
  fails("a shape of no input", [&] { tune(NetworkFile{LEHR_MODEL, {}, {{"none", {1}}}}, device, log); });
  fails("a shape of other rank", [&] { tune(NetworkFile{LEHR_MODEL, {}, {{"input", {}}}}, device, log); });
  fails("a bundle that is a file", [&] { apply(model, {.bundle = in("file"), .out = in("faster")}); });
  fails("a feed that is a text",
        [&] { apply(model, {.bundle = in("file"), .out = in("faster"), .feed = in("file")}); });
  fails("a folder in a file", [&] { export_kernels({.log = in("file"), .out = in("file/kernels")}); });
  fails("a size that is no workload's",
        [&] { export_kernels({.log = in("none.db"), .out = in("kernels"), .isa = "\xff"}); });
  DeviceOptions no_scratch = one_thread();
  no_scratch.tools.scratch = in("none");
  fails("a scratch folder that is not there", [&] {
    Device another(no_scratch);
    tune(kSmall, another, log, few_trials(1));
  });
  DeviceOptions no_compiler = one_thread();
  no_compiler.tools.compiler = in("none");
  fails("no compiler", [&] { Device another(no_compiler); });
  TuneOptions thrower = few_trials(1);
  thrower.seed = std::numeric_limits<std::uint64_t>::max();
  thrower.on_result = [](const Result&) { throw std::out_of_range("of the caller's"); };
  EXPECT_EQ(error_of([&] { tune(kSmall, device, log, thrower); }).second, "unexpected: of the caller's");
}

TEST(Sentences, NameMembersWhereTheCommandNamesFlags) {
  EXPECT_EQ(with_members("--time 1 is not valid; give --run-timeout (--db), or --no-such"),
            "time_s 1 is not valid; give run_timeout_s (log), or --no-such");
  EXPECT_EQ(with_members("lehr tune --isa x makes some; --isa y does not"),
            "lehr tune --isa x makes some; isa y does not");
  EXPECT_EQ(with_members("a is no bundle: `lehr export --out a` writes one"),
            "a is no bundle: `lehr export --out a` writes one");
  EXPECT_EQ(with_members("the compiler said 'unknown option: '--x'"),
            "the compiler said 'unknown option: '--x'");
  const auto thrown = [](const auto& error) {
    return error_of([&] { guarded([&]() -> int { throw error; }); });
  };
  EXPECT_EQ(thrown(std::out_of_range("vector::at")),
            std::pair(Code::kMissing, std::string("unexpected: vector::at")));
  EXPECT_EQ(thrown(Error(Code::kInterrupted, "it was stopped")),
            std::pair(Code::kInterrupted, std::string("it was stopped")));
  const auto error = std::make_error_code(std::errc::no_space_on_device);
  EXPECT_THAT(thrown(std::filesystem::filesystem_error("write", "/a", error)).second, StartsWith("'/a': "));
  EXPECT_THROW(guarded([]() -> int { throw std::bad_alloc(); }), std::bad_alloc);
}

TEST_F(Api, AnswersWithACodeWhereItWasStoppedBefore) {
  const std::atomic<bool> stop = true;
  Device device(one_thread(&stop));
  Log log(in("log.db"));
  const Result result = tune(kSmall, device, log, few_trials(2));
  EXPECT_EQ(result.code, Code::kInterrupted);
  EXPECT_THAT(result.failure, HasSubstr("stopped"));
  EXPECT_THAT(result.workload, StartsWith(kSmall));
  EXPECT_EQ(nlohmann::json::parse(result.json)["workload"], result.workload);
  EXPECT_EQ(tune("gemm m=1..2 n=8 k=8", device, log, few_trials(2)).code, Code::kInterrupted);
  EXPECT_EQ(tune(std::vector<std::string>{kSmall, kSmall}, device, log, few_trials(2)).code,
            Code::kInterrupted);
  EXPECT_EQ(tune(NetworkFile{LEHR_MODEL, {{"batch", 1}}}, device, log, few_trials(2)).code,
            Code::kInterrupted);
  OptimizeOptions options;
  options.log = log.path();
  options.out = in("faster");
  options.stop = &stop;
  EXPECT_EQ(optimize(NetworkFile{LEHR_MODEL, {{"batch", 1}}}, options).code, Code::kInterrupted);
  EXPECT_FALSE(std::filesystem::exists(options.out));
}

TEST_F(Api, GoesOnWithoutACallbackThatThrows) {
  Device device(one_thread());
  Log log(in("log.db"));
  TuneOptions options = few_trials(3);
  int calls = 0;
  options.on_progress = [&](const Progress& progress) {
    if (progress.kind != Progress::Kind::kNewBest) return;
    ++calls;
    throw std::runtime_error("no");
  };
  const Result result = tune(kSmall, device, log, options);
  EXPECT_EQ(result.code, Code::kDone);
  EXPECT_GE(result.trials, 3);
  EXPECT_EQ(calls, 1);
}

TEST(Harmless, EndsForAllItsCopies) {
  int calls = 0;
  const OnProgress one = harmless(OnProgress([&](const Progress&) {
    ++calls;
    throw std::runtime_error("no");
  }));
  const OnProgress other = one;
  one({});
  other({});
  EXPECT_EQ(calls, 1);
}

TEST_F(Api, EndsWhenItIsAskedAndGoesOnLater) {
  std::atomic<bool> stop = false;
  Device device(one_thread(&stop));
  Log log(in("log.db"));
  TuneOptions options = few_trials(12);
  options.on_progress = [&](const Progress& progress) { stop = progress.trials >= 4; };
  const Result first = tune(kSmall, device, log, options);
  EXPECT_EQ(first.code, Code::kInterrupted);
  EXPECT_FALSE(first.failure.empty());
  EXPECT_LT(first.trials, 12);
  stop = false;
  options.on_progress = {};
  const Result second = tune(kSmall, device, log, options);
  EXPECT_EQ(second.code, Code::kDone);
  const auto document = nlohmann::json::parse(second.json);
  EXPECT_GE(document["trials"]["reused"], first.trials);
  EXPECT_LE(second.trials + first.trials, 12 + 16) << "what was measured counts";
}

TEST_F(Api, TunesInEightThreadsAtOnceAndLeavesTheProcessAsItWas) {
  struct sigaction before = {}, after = {};
  sigaction(SIGINT, nullptr, &before);
  setenv("CXX", "/nowhere/c++", 1);  // the environment is not looked at
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  std::array<Result, 8> results;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < results.size(); ++i)
      threads.emplace_back([&, i] {
        Device device(one_thread());
        Log log(in("log-" + std::to_string(i) + ".db"));
        results[i] = tune("gemm m=16 n=16 k=" + std::to_string(16 + i), device, log, few_trials(3));
      });
  }
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  unsetenv("CXX");
  for (const Result& each : results) {
    EXPECT_EQ(each.code, Code::kDone) << each.failure;
    EXPECT_GE(each.trials, 3);
    EXPECT_GT(each.best.us, 0);
  }
  sigaction(SIGINT, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

TEST_F(Api, OfTwoThreadsOneIsStoppedAndTheOtherGoesOn) {
  std::atomic<bool> stop = false;
  Result stopped, other;
  {
    std::jthread first([&] {
      Device device(one_thread(&stop));
      Log log(in("first.db"));
      TuneOptions options = few_trials(1000);
      options.on_progress = [&](const Progress& progress) { stop = progress.trials >= 2; };
      stopped = tune(kSmall, device, log, options);
    });
    std::jthread second([&] {
      Device device(one_thread());
      Log log(in("second.db"));
      other = tune(kSmall, device, log, few_trials(8));
    });
  }
  EXPECT_EQ(stopped.code, Code::kInterrupted);
  EXPECT_EQ(other.code, Code::kDone);
  EXPECT_GE(other.trials, 8);
}

}  // namespace
}  // namespace lehr::api
