// What a program sees that tunes by api/lehr.h: results, errors, many threads, an end that is asked for.
#include "api/lehr.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "measure/system/temp_dir.h"
#include "tune/events.h"

namespace lehr::api {
namespace {

using ::testing::HasSubstr;
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
  options.log = in("none.db");
  EXPECT_EQ(error_of([&] { export_kernels(options); }).first, Code::kWrongInput);
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
  EXPECT_EQ(error_of([&] { tune(Model{in("none.onnx")}, device, log); }).first, Code::kWrongInput);
  EXPECT_FALSE(std::filesystem::exists(log.path())) << "nothing was measured, and a log was made";
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
