// The library that a product loads: opening, finding, calling, and every way of getting it wrong.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "folder_support.h"
#include "runtime/lehr_bundle.h"
#include "runtime/self_test.h"
#include "tests/support/seed.h"

namespace lehr::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

/// The sentence of a call that is expected to fail with `status`.
template <typename Call>
std::string refusal(lehr_status status, Call call) {
  lehr_error error = {sizeof error, "nothing was said"};
  EXPECT_EQ(call(&error), status) << error.text;
  return error.text;
}

/// The result of a call that is expected to succeed.
template <typename Result, typename Call>
Result done(Call call) {
  Result result{};
  lehr_error error = {sizeof error, "nothing was said"};
  EXPECT_EQ(call(&result, &error), LEHR_OK) << error.text;
  EXPECT_STREQ(error.text, "");
  return result;
}

lehr_bundle open_bundle(const BundleFolder& folder, const lehr_open_options* options = nullptr) {
  return done<lehr_bundle>(
      [&](auto* bundle, auto* error) { return lehr_open(folder.path().c_str(), options, bundle, error); });
}
lehr_kernel find(lehr_bundle bundle, const char* workload, std::uint32_t threads = 0) {
  const lehr_find_options options = {sizeof options, threads, 0, LEHR_ANY_TARGET};
  return done<lehr_kernel>(
      [&](auto* kernel, auto* error) { return lehr_find(bundle, workload, &options, kernel, error); });
}
lehr_kernel_info info_of(lehr_kernel kernel) {
  return done<lehr_kernel_info>([&](auto* info, auto* error) {
    info->size = sizeof *info;
    return lehr_info(kernel, info, error);
  });
}

/// Aligned memory of a call.
struct alignas(64) Line {
  std::array<float, 16> values{};
};

/// A call of a scale kernel on `rows` rows of counting numbers.
struct Call {
  std::vector<float> a, w, c;
  std::vector<Line> packed{1}, scratch;
  std::vector<void*> params;
  lehr_call call = {};

  Call(lehr_kernel kernel, int rows, std::uint32_t workers = 1)
      : a(static_cast<std::size_t>(4 * rows)), w{1, 2, 3, 4}, c(static_cast<std::size_t>(4 * rows) + 8, -7) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i);
    params = {a.data(), w.data(), c.data(), packed.data()};
    const auto bytes = done<std::uint64_t>(
        [&](auto* result, auto* error) { return lehr_scratch_bytes(kernel, workers, result, error); });
    scratch.resize(static_cast<std::size_t>(bytes / sizeof(Line) + 1));
    call = {sizeof call, 4, params.data(), scratch.data(), bytes, workers, nullptr, nullptr, 0};
  }
};

std::vector<float> expected(int rows) {
  std::vector<float> c(static_cast<std::size_t>(4 * rows) + 8, -7);  // what lies behind it stays
  for (std::size_t i = 0; i < static_cast<std::size_t>(4 * rows); ++i)
    c[i] = static_cast<float>(i) * static_cast<float>(2 * (i % 4 + 1));
  return c;
}

std::vector<float> run(lehr_kernel kernel, int rows) {
  Call call(kernel, rows);
  lehr_error error = {sizeof error, ""};
  EXPECT_EQ(lehr_prepack(kernel, &call.call, &error), LEHR_OK) << error.text;
  EXPECT_EQ(lehr_run(kernel, &call.call, &error), LEHR_OK) << error.text;
  return call.c;
}

TEST(Runtime, RunsAKernelAsTheManifestDescribesIt) {
  BundleFolder folder;
  add_scale(folder, 3, 5);
  folder.seal();
  const lehr_bundle bundle = open_bundle(folder);
  EXPECT_EQ(done<std::uint32_t>([&](auto* count, auto* error) { return lehr_count(bundle, count, error); }),
            1u);
  const lehr_kernel kernel = find(bundle, "scale width=4 m=3");
  EXPECT_EQ(kernel, done<lehr_kernel>([&](auto* at, auto* error) { return lehr_at(bundle, 0, at, error); }));
  const lehr_kernel_info info = info_of(kernel);
  EXPECT_EQ(info.answer, static_cast<std::uint32_t>(LEHR_EXACT));
  EXPECT_STREQ(info.workload, "scale m=3 width=4 kind=double");
  EXPECT_STREQ(info.name, "scale_3");
  EXPECT_EQ(info.params, 4u);
  EXPECT_DOUBLE_EQ(info.time_us, 5);
  EXPECT_DOUBLE_EQ(info.max_error, 3e-8);
  lehr_param_info param = {};
  param.size = sizeof param;
  lehr_error error = {sizeof error, ""};
  ASSERT_EQ(lehr_param(kernel, 3, &param, &error), LEHR_OK) << error.text;
  EXPECT_STREQ(param.name, "w_packed");
  EXPECT_EQ(param.role, static_cast<std::uint32_t>(LEHR_PREPACKED));
  EXPECT_EQ(param.alignment, 64u);
  EXPECT_EQ(run(kernel, 3), expected(3));
  EXPECT_EQ(lehr_close(bundle, &error), LEHR_OK) << error.text;
}

TEST(Runtime, RunsOnAnyPool) {
  BundleFolder folder;
  add_scale(folder, 16, 5);
  folder.seal();
  const lehr_bundle bundle = open_bundle(folder);
  const lehr_kernel kernel = find(bundle, "scale m=16 width=4");
  auto* const pool =
      done<lehr_pool*>([](auto* made, auto* error) { return lehr_pool_create(3, made, error); });
  // Its own pool; one that runs them in turn from the last; one that calls the first worker alone.
  const auto in_turn = +[](void*, std::uint32_t workers, void (*work)(void*, std::uint32_t), void* context) {
    while (workers-- > 0) work(context, workers);
  };
  const auto first_alone =
      +[](void*, std::uint32_t, void (*work)(void*, std::uint32_t), void* context) { work(context, 0); };
  for (const std::uint32_t workers : {1u, 2u, 3u, 7u}) {
    for (const lehr_parallel_for parallel_for : {&lehr_pool_run, in_turn, first_alone}) {
      for (int again = 0; again < 20; ++again) {
        Call call(kernel, 16, workers);
        call.call.parallel_for = parallel_for;
        call.call.pool = pool;
        lehr_error error = {sizeof error, ""};
        ASSERT_EQ(lehr_prepack(kernel, &call.call, &error), LEHR_OK) << error.text;
        ASSERT_EQ(lehr_run(kernel, &call.call, &error), LEHR_OK) << error.text;
        ASSERT_EQ(call.c, expected(16)) << workers;
      }
    }
  }
  lehr_pool_destroy(pool);
  lehr_close(bundle, nullptr);
}

TEST(Runtime, ManyThreadsFindAndCallAtTheSameTime) {
  BundleFolder folder;
  add_scale(folder, 4, 4);
  add_scale(folder, 1, 2);
  folder.seal();
  const lehr_bundle bundle = open_bundle(folder);
  auto* const pool =
      done<lehr_pool*>([](auto* made, auto* error) { return lehr_pool_create(2, made, error); });
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 50; ++i) {
        const int rows = 1 + (i * 7 + thread) % 23;
        const lehr_kernel kernel = find(bundle, ("scale width=4 m=" + std::to_string(rows)).c_str());
        Call call(kernel, rows, 2);
        call.call.parallel_for = &lehr_pool_run;
        call.call.pool = pool;
        ASSERT_EQ(lehr_prepack(kernel, &call.call, nullptr), LEHR_OK);
        ASSERT_EQ(lehr_run(kernel, &call.call, nullptr), LEHR_OK);
        ASSERT_EQ(call.c, expected(rows)) << rows;
      }
    });
  for (std::thread& thread : threads) thread.join();
  lehr_pool_destroy(pool);
  lehr_close(bundle, nullptr);
}

/// What a child process that a test made ends with, which it does within a minute.
int end_of(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

bool runs_on_pool(lehr_bundle bundle, int rows, lehr_pool* pool) {
  lehr_kernel kernel = 0;
  const std::string workload = "scale width=4 m=" + std::to_string(rows);
  if (lehr_find(bundle, workload.c_str(), nullptr, &kernel, nullptr) != LEHR_OK) return false;
  Call call(kernel, rows, 3);
  call.call.parallel_for = &lehr_pool_run;
  call.call.pool = pool;
  return lehr_prepack(kernel, &call.call, nullptr) == LEHR_OK &&
         lehr_run(kernel, &call.call, nullptr) == LEHR_OK && call.c == expected(rows);
}

// Servers fork when they have loaded and tried what they serve. Calls of other threads are under way
// meanwhile.
TEST(Runtime, ChildProcessesFindAndCallAndCloseWhateverTheirParentsThreadsDo) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a sanitizer's own locks stay held in a child of many threads";
#endif
  BundleFolder folder;
  add_scale(folder, 4, 4);
  add_scale(folder, 1, 2);
  folder.seal();
  const lehr_bundle bundle = open_bundle(folder);
  auto* const pool =
      done<lehr_pool*>([](auto* made, auto* error) { return lehr_pool_create(3, made, error); });
  ASSERT_TRUE(runs_on_pool(bundle, 8, pool));
  std::atomic<bool> quit = false;
  std::thread calls([&] {
    while (!quit) ASSERT_TRUE(runs_on_pool(bundle, 9, pool));
  });
  std::thread finds([&] {
    for (int rows = 100; !quit; rows = rows % 3000 + 17)
      find(bundle, ("scale width=4 m=" + std::to_string(rows)).c_str());
  });
  for (int i = 0; i < 12; ++i) {
    const pid_t child = fork();
    if (child != 0) {
      EXPECT_EQ(end_of(child), 0) << i;
      continue;
    }
    alarm(60);
    bool right = i % 4 == 0 || (runs_on_pool(bundle, 10 + i, pool) && runs_on_pool(bundle, 8, pool));
    if (i % 4 == 1) {  // a child's child, whose parent has helpers of its own
      const pid_t grandchild = fork();
      if (grandchild == 0) {
        alarm(60);
        const bool computes = runs_on_pool(bundle, 40 + i, pool);
        lehr_pool_destroy(pool);
        _exit(computes && lehr_close(bundle, nullptr) == LEHR_OK ? 0 : 1);
      }
      right = right && end_of(grandchild) == 0;
    }
    lehr_pool_destroy(pool);
    _exit(right && lehr_close(bundle, nullptr) == LEHR_OK ? 0 : 1);
  }
  quit = true;
  calls.join();
  finds.join();
  EXPECT_TRUE(runs_on_pool(bundle, 8, pool));
  lehr_pool_destroy(pool);
  lehr_close(bundle, nullptr);
}

TEST(Runtime, PoolsHaveASensibleNumberOfThreads) {
  for (const std::uint32_t threads : {0u, 4097u, 0x80000000u, 0xffffffffu}) {
    lehr_pool* pool = nullptr;
    EXPECT_THAT(
        refusal(LEHR_BAD_ARGUMENT, [&](auto* error) { return lehr_pool_create(threads, &pool, error); }),
        HasSubstr("1 to 4096 threads, not " + std::to_string(threads)));
  }
}

// Each is made once, and the seventy thousandth is found as soon as the first.
TEST(Runtime, KeepsSeventyThousandShapes) {
  BundleFolder folder;
  add_scale(folder, 4, 4);
  add_scale(folder, 1, 2);
  folder.seal();
  const lehr_bundle bundle = open_bundle(folder);
  const auto of_rows = [&](int rows) {
    return find(bundle, ("scale width=4 m=" + std::to_string(rows)).c_str(), 1 + rows % 2);
  };
  std::vector<lehr_kernel> kernels(70000);
  // Counts this thread alone: others may load the machine.
  const auto cpu_ns = [] {
    timespec now = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1'000'000'000 * std::int64_t{now.tv_sec} + now.tv_nsec;
  };
  const auto find_known = [&](int from) {
    const std::int64_t begin = cpu_ns();
    for (int rows = from; rows < from + 1000; ++rows)
      EXPECT_EQ(of_rows(rows), kernels[static_cast<std::size_t>(rows)]);
    return cpu_ns() - begin;
  };
  for (int rows = 5; rows < 1005; ++rows) kernels[static_cast<std::size_t>(rows)] = of_rows(rows);
  const auto among_few = find_known(5);
  for (int rows = 1005; rows < 70000; ++rows) kernels[static_cast<std::size_t>(rows)] = of_rows(rows);
  EXPECT_LT(find_known(5), 10 * among_few);
  EXPECT_LT(find_known(69000), 10 * among_few);
  EXPECT_EQ(run(kernels[69999], 69999), expected(69999));
  EXPECT_EQ(info_of(kernels[104]).parts, 26u);
  lehr_close(bundle, nullptr);
}

/// What a call of a split takes beside its kernel's time.
constexpr double kCallUs = 0.1;

struct TunedSize {
  int rows;
  double us;
};

/// Of what the bundle's sizes make of the first 0, 1, ... `most` rows, the least time: the last call may
/// overlap.
std::vector<double> least_times(const std::vector<TunedSize>& sizes, int most) {
  std::vector<double> least(static_cast<std::size_t>(most) + 1, 0.0);
  for (int rows = 1; rows <= most; ++rows) {
    double& time = least[static_cast<std::size_t>(rows)] = HUGE_VAL;
    for (const TunedSize& size : sizes)
      time =
          std::min(time, size.us + kCallUs + least[static_cast<std::size_t>(std::max(0, rows - size.rows))]);
  }
  return least;
}

TEST(Runtime, PutsRowsTogetherFromTunedSizes) {
  BundleFolder folder;
  add_scale(folder, 16, 8);
  add_scale(folder, 4, 4);
  add_scale(folder, 1, 3);
  folder.seal();
  const lehr_bundle bundle = open_bundle(folder);
  for (int rows = 1; rows <= 70; ++rows) {
    const lehr_kernel kernel = find(bundle, ("scale width=4 m=" + std::to_string(rows)).c_str());
    const lehr_kernel_info info = info_of(kernel);
    const bool exact = rows == 1 || rows == 4 || rows == 16;
    // No larger size is taken for fewer rows: what begins before the first one is no part.
    std::vector<TunedSize> sizes;
    for (const TunedSize size : {TunedSize{16, 8}, {4, 4}, {1, 3}})
      if (size.rows <= rows) sizes.push_back(size);
    EXPECT_EQ(info.answer, static_cast<std::uint32_t>(exact ? LEHR_EXACT : LEHR_SPLIT)) << rows;
    EXPECT_NEAR(info.time_us, least_times(sizes, rows).back() - kCallUs, 1e-9) << rows;
    EXPECT_EQ(run(kernel, rows), expected(rows)) << rows;
    EXPECT_EQ(kernel, find(bundle, ("scale width=4 m=" + std::to_string(rows)).c_str())) << "made once";
  }
  // 16 rows at 0 and 16 at 8, not 16 and two times 4.
  const lehr_kernel_info info = info_of(find(bundle, "scale width=4 m=24"));
  EXPECT_EQ(info.parts, 2u);
  EXPECT_DOUBLE_EQ(info.wasted, 8.0 / 32);
  EXPECT_DOUBLE_EQ(info.time_us, 8 + 8 + kCallUs);
  EXPECT_EQ(info_of(find(bundle, "scale width=4 m=20")).parts, 2u);
  EXPECT_EQ(info_of(find(bundle, "scale width=4 m=20")).wasted, 0);
  EXPECT_EQ(info_of(find(bundle, "scale width=4 m=1000000")).parts, 62500u);
  lehr_close(bundle, nullptr);
}

TEST(Runtime, PutsAnyRowsTogetherInTheLeastTimeFromAnySizes) {
  const std::uint64_t seed = lehr::testing::test_seed(1);
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  BundleFolder folder;
  for (const int rows : {1, 2, 3, 5, 8, 12, 16}) add_scale(folder, rows, 1);
  const json all = folder.manifest["kernels"];
  for (int round = 0; round < 30; ++round) {
    std::vector<TunedSize> sizes;
    folder.manifest["kernels"] = json::array();
    for (json kernel : all) {
      if (random() % 2 == 0) continue;
      const int rows = kernel["slices"]["size"];
      kernel["time_us"] = static_cast<double>(1 + random() % 100) / 10 + 0.3 * rows;
      sizes.push_back({rows, kernel["time_us"]});
      folder.manifest["kernels"].push_back(kernel);
    }
    if (sizes.empty()) continue;
    folder.seal();
    const lehr_bundle bundle = open_bundle(folder);
    for (int i = 0; i < 20; ++i) {
      const int rows = static_cast<int>(16 + random() % 200);
      const lehr_kernel kernel = find(bundle, ("scale width=4 m=" + std::to_string(rows)).c_str());
      const lehr_kernel_info info = info_of(kernel);
      if (info.answer == LEHR_SPLIT) {
        EXPECT_NEAR(info.time_us, least_times(sizes, rows).back() - kCallUs, 1e-6) << rows;
      }
      ASSERT_EQ(run(kernel, rows), expected(rows)) << rows;
    }
    lehr_close(bundle, nullptr);
  }
}

TEST(Runtime, PadsToABucketWhereOneIsDeclaredAndSaysWhatIsWasted) {
  BundleFolder folder;
  add_scale(folder, 16, 8, 1, true);
  folder.seal();
  const lehr_bundle bundle = open_bundle(folder);
  for (int rows = 1; rows <= 50; ++rows) {
    const lehr_kernel kernel = find(bundle, ("scale width=4 m=" + std::to_string(rows)).c_str());
    const int computed = (rows + 15) / 16 * 16;
    const lehr_kernel_info info = info_of(kernel);
    EXPECT_NEAR(info.wasted, 1 - rows * 1.0 / computed, 1e-12) << rows;
    // What has rows enough is not padded: its last part overlaps, and nothing is copied.
    EXPECT_EQ(info.answer, static_cast<std::uint32_t>(rows == 16  ? LEHR_EXACT
                                                      : rows > 16 ? LEHR_SPLIT
                                                                  : LEHR_PADDED));
    EXPECT_NEAR(info.time_us, computed / 2 + (computed / 16 - 1) * kCallUs, 1e-9);
    EXPECT_EQ(run(kernel, rows), expected(rows)) << rows;
  }
  lehr_close(bundle, nullptr);
}

TEST(Runtime, PadsOrSplitsWhicheverTakesLess) {
  BundleFolder folder;
  add_scale(folder, 16, 8, 1, true);
  add_scale(folder, 1, 3);
  folder.seal();
  const lehr_bundle bundle = open_bundle(folder);
  EXPECT_DOUBLE_EQ(info_of(find(bundle, "scale width=4 m=2")).time_us, 6 + kCallUs);
  EXPECT_EQ(info_of(find(bundle, "scale width=4 m=2")).answer, static_cast<std::uint32_t>(LEHR_SPLIT));
  EXPECT_DOUBLE_EQ(info_of(find(bundle, "scale width=4 m=3")).time_us, 8);
  EXPECT_EQ(info_of(find(bundle, "scale width=4 m=3")).answer, static_cast<std::uint32_t>(LEHR_PADDED));
  EXPECT_DOUBLE_EQ(info_of(find(bundle, "scale width=4 m=18")).time_us, 14 + 2 * kCallUs);
  EXPECT_EQ(run(find(bundle, "scale width=4 m=18"), 18), expected(18));
  lehr_close(bundle, nullptr);
}

TEST(Runtime, NeverAnswersWithWhatIsOnlyNear) {
  BundleFolder folder;
  add_scale(folder, 4, 4);
  folder.seal();
  const lehr_bundle bundle = open_bundle(folder);
  const auto none = [&](const char* workload, const lehr_find_options* options = nullptr) {
    return refusal(LEHR_NO_KERNEL, [&](auto* error) {
      lehr_kernel kernel = 1;
      const lehr_status status = lehr_find(bundle, workload, options, &kernel, error);
      EXPECT_EQ(kernel, 0u);
      return status;
    });
  };
  EXPECT_EQ(none("scale m=3 width=4"), "the bundle has no kernel for 'scale m=3 width=4'");
  none("scale m=4 width=5");
  none("scale m=4");  // a width is never meant without a word
  none("scale m=4 width=4 kind=triple");
  none("scale m=4 width=4 epilogue=bias");  // the kernel would ignore it
  none("scal m=4 width=4");
  none("scale m=0 width=4");
  none("scale m=-4 width=4");
  none("scale m=4x width=4");
  none("scale m=99999999999999999999 width=4");
  none("scale m= width=4");
  none("");
  none("scale m=4 width=4 kind=3");
  EXPECT_EQ(refusal(LEHR_BAD_ARGUMENT,
                    [&](auto* error) {
                      lehr_kernel kernel;
                      return lehr_find(bundle, "scale m=4 width=4 m=5", nullptr, &kernel, error);
                    }),
            "'scale m=4 width=4 m=5' says m twice");
  EXPECT_NE(find(bundle, "scale m=8 width=4"), 0u);
  EXPECT_NE(find(bundle, "scale width=4 kind=2 m=4"), 0u);
  const lehr_find_options exact = {sizeof exact, 0, 1, LEHR_ANY_TARGET};
  none("scale m=12 width=4", &exact);
  lehr_close(bundle, nullptr);
}

TEST(Runtime, PrefersKernelsForTheThreadsAtHand) {
  BundleFolder folder;
  add_scale(folder, 4, 4, 1);
  add_scale(folder, 4, 3, 2);
  folder.seal();
  const lehr_bundle bundle = open_bundle(folder);
  EXPECT_EQ(info_of(find(bundle, "scale m=4 width=4", 1)).threads, 1u);
  EXPECT_EQ(info_of(find(bundle, "scale m=4 width=4", 2)).threads, 2u);
  EXPECT_EQ(info_of(find(bundle, "scale m=4 width=4", 2)).answer, static_cast<std::uint32_t>(LEHR_EXACT));
  const lehr_kernel other = find(bundle, "scale m=4 width=4", 9);
  EXPECT_EQ(info_of(other).threads, 2u) << "the fastest";
  EXPECT_EQ(info_of(other).answer, static_cast<std::uint32_t>(LEHR_OTHER_THREADS));
  EXPECT_EQ(other, find(bundle, "scale m=4 width=4", 9)) << "made once";
  EXPECT_EQ(run(other, 4), expected(4));
  EXPECT_EQ(info_of(find(bundle, "scale m=40 width=4", 1)).threads, 1u);
  EXPECT_EQ(info_of(find(bundle, "scale m=40 width=4", 2)).threads, 2u);
  lehr_close(bundle, nullptr);
}

// What keeps a program that was built for another processor from SIGILL.
TEST(Runtime, RefusesKernelsForAnotherProcessorBeforeTheyAreLoaded) {
  BundleFolder folder;
  // Loading it would end the process.
  folder.add_library("scale_4",
                     "__attribute__((constructor)) static void end() { __builtin_trap(); }" + scale_text(4));
  json kernel = scale_kernel(4, 1);
  kernel["arch"] = "avx512";
  kernel["features"] = {"avx512f"};
  folder.manifest["kernels"].push_back(kernel);
  folder.seal();
  const lehr_open_options without = {sizeof without, "avx2 fma", 0, 0};
  const auto open = [&](const lehr_open_options* options) {
    return refusal(LEHR_WRONG_DEVICE, [&](auto* error) {
      lehr_bundle bundle;
      return lehr_open(folder.path().c_str(), options, &bundle, error);
    });
  };
#if defined(__x86_64__)
  EXPECT_THAT(
      open(&without),
      HasSubstr("runs here: that for 'scale m=4 width=4 kind=double' needs avx512f, which is not there"));
#endif
  folder.manifest["kernels"][0]["features"] = {"sse9000"};
  folder.seal();
  EXPECT_THAT(open(nullptr), HasSubstr("needs sse9000"));
  folder.manifest["kernels"][0]["features"] = json::array();
  folder.manifest["kernels"][0]["machine"] = "sparc";
  folder.seal();
  EXPECT_THAT(open(nullptr), HasSubstr("needs sparc"));
  // Beside one that runs here it is left out, and a question for it says why there is no answer.
  add_scale(folder, 1, 1);
  folder.manifest["kernels"][0]["slices"] = nullptr;
  folder.manifest["kernels"][0].erase("slices");
  folder.manifest["kernels"][1].erase("slices");
  folder.seal();
  const lehr_bundle bundle = open_bundle(folder);
  EXPECT_EQ(done<std::uint32_t>([&](auto* count, auto* error) { return lehr_count(bundle, count, error); }),
            1u);
  EXPECT_THAT(refusal(LEHR_NO_KERNEL,
                      [&](auto* error) {
                        lehr_kernel found;
                        return lehr_find(bundle, "scale m=4 width=4", nullptr, &found, error);
                      }),
              HasSubstr("needs sparc, which is not there"));
  lehr_close(bundle, nullptr);
}

TEST(Runtime, WrongArgumentsGetACodeAndASentence) {
  BundleFolder folder;
  add_scale(folder, 4, 4);
  folder.seal();
  const lehr_bundle bundle = open_bundle(folder);
  const lehr_kernel kernel = find(bundle, "scale m=4 width=4");
  const auto refused = [&](const auto& change) {
    Call call(kernel, 4);
    change(call);
    const std::vector<float> before = call.c;
    const std::string text =
        refusal(LEHR_BAD_ARGUMENT, [&](auto* error) { return lehr_run(kernel, &call.call, error); });
    EXPECT_EQ(call.c, before);
    EXPECT_EQ(lehr_run(kernel, &call.call, nullptr), LEHR_BAD_ARGUMENT);
    return text;
  };
  EXPECT_EQ(refused([](Call& call) { call.params[1] = nullptr; }), "parameter 1, w, is a null pointer");
  EXPECT_EQ(refused([](Call& call) { call.params[0] = reinterpret_cast<char*>(call.params[0]) + 2; }),
            "parameter 0, a, is not aligned to 4 bytes");
  EXPECT_EQ(refused([](Call& call) { call.params[3] = &call.packed[0].values[1]; }),
            "parameter 3, w_packed, is not aligned to 64 bytes");
  EXPECT_EQ(refused([](Call& call) { call.call.param_count = 3; }), "the kernel takes 4 parameters, not 3");
  EXPECT_EQ(refused([](Call& call) { call.call.params = nullptr; }), "the kernel takes 4 parameters, not 0");
  EXPECT_EQ(refused([](Call& call) { call.call.scratch_bytes = 63; }),
            "63 bytes of scratch are too few: 1 workers need 64");
  EXPECT_EQ(refused([](Call& call) { call.call.scratch = nullptr; }),
            "0 bytes of scratch are too few: 1 workers need 64");
  EXPECT_EQ(refused([](Call& call) { call.call.scratch = &call.scratch[0].values[4]; }),
            "the scratch is not aligned to 64 bytes");
  EXPECT_EQ(refused([](Call& call) { call.call.workers = 2; }),
            "2 workers are asked for without a parallel_for");
  EXPECT_EQ(refused([](Call& call) { call.call.size = 8; }), "lehr_call::size is 8: set it to sizeof");
  EXPECT_EQ(refused([](Call& call) { call.call.rows = 4; }),
            "lehr_call::rows is 4, and the kernel's rows are fixed: set it to 0");
  EXPECT_EQ(refusal(LEHR_BAD_ARGUMENT, [&](auto* error) { return lehr_run(kernel, nullptr, error); }),
            "the call is a null pointer");
  EXPECT_EQ(lehr_close(bundle, nullptr), LEHR_OK);
}

// In a library that was compiled without NDEBUG.
TEST(Runtime, WhatIsWrittenOverlapsNothing) {
#ifdef NDEBUG
  GTEST_SKIP() << "these checks are compiled away";
#endif
  BundleFolder folder;
  add_scale(folder, 64, 4);
  folder.seal();
  const lehr_bundle bundle = open_bundle(folder);
  const lehr_kernel kernel = find(bundle, "scale m=64 width=4");
  std::vector<Line> memory(100);
  // a and c have 1024 bytes, w and w_packed 16, the scratch 64: each in 16 lines of its own.
  const auto call_with = [&](std::size_t which, std::size_t line, const char* said) {
    void* places[] = {&memory[0], &memory[16], &memory[32], &memory[48], &memory[80]};
    places[which] = &memory[line];
    const lehr_call call = {sizeof call, 4, places, places[4], 64, 1, nullptr, nullptr, 0};
    lehr_error error = {sizeof error, ""};
    EXPECT_EQ(lehr_run(kernel, &call, &error), *said == '\0' ? LEHR_OK : LEHR_BAD_ARGUMENT) << said;
    EXPECT_STREQ(error.text, said);
  };
  call_with(0, 0, "");
  for (const std::size_t line : {17u, 32u, 40u, 47u}) call_with(0, line, "c, which is written, overlaps a");
  for (const std::size_t line : {16u, 48u + 1}) call_with(0, line, "");  // what is read may be read twice
  for (const std::size_t line : {32u, 47u}) call_with(1, line, "c, which is written, overlaps w");
  for (const std::size_t line : {1u, 15u}) call_with(2, line, "c, which is written, overlaps a");
  call_with(2, 16, "c, which is written, overlaps w");
  call_with(2, 17, "");
  call_with(2, 33, "c, which is written, overlaps w_packed");
  call_with(3, 47, "c, which is written, overlaps w_packed");
  call_with(4, 15, "the scratch overlaps a");
  call_with(4, 16, "the scratch overlaps w");
  call_with(4, 32, "the scratch overlaps c");
  call_with(4, 48, "the scratch overlaps w_packed");
  void* same[] = {nullptr, &memory[0], nullptr, &memory[0]};
  const lehr_call call = {sizeof call, 4, same, nullptr, 0, 1, nullptr, nullptr, 0};
  EXPECT_EQ(refusal(LEHR_BAD_ARGUMENT, [&](auto* error) { return lehr_prepack(kernel, &call, error); }),
            "w_packed, which is written, overlaps w");
  lehr_close(bundle, nullptr);
}

TEST(Runtime, HandlesThatAreNotOpenAreRefused) {
  BundleFolder folder;
  add_scale(folder, 4, 4);
  folder.seal();
  const lehr_bundle bundle = open_bundle(folder);
  const lehr_kernel kernel = find(bundle, "scale m=4 width=4"), split = find(bundle, "scale m=8 width=4");
  EXPECT_EQ(lehr_close(bundle, nullptr), LEHR_OK);
  const lehr_bundle other = open_bundle(folder);
  std::mt19937_64 random(20261126);
  std::vector<std::uint64_t> handles = {0,     1,          bundle,    kernel,
                                        split, kernel + 1, other + 2, ~std::uint64_t{0}};
  for (int i = 0; i < 1000; ++i) handles.push_back(random());
  for (const std::uint64_t handle : handles) {
    if (handle == other) continue;
    lehr_kernel_info info = {};
    info.size = sizeof info;
    lehr_kernel found;
    std::uint32_t count;
    std::uint64_t bytes;
    lehr_call call = {};
    call.size = sizeof call;
    EXPECT_EQ(lehr_info(handle, &info, nullptr), LEHR_BAD_ARGUMENT) << handle;
    EXPECT_EQ(lehr_run(handle, &call, nullptr), LEHR_BAD_ARGUMENT) << handle;
    EXPECT_EQ(lehr_prepack(handle, &call, nullptr), LEHR_BAD_ARGUMENT) << handle;
    EXPECT_EQ(lehr_scratch_bytes(handle, 1, &bytes, nullptr), LEHR_BAD_ARGUMENT) << handle;
    EXPECT_EQ(lehr_count(handle, &count, nullptr), LEHR_BAD_ARGUMENT) << handle;
    EXPECT_EQ(lehr_find(handle, "scale m=4 width=4", nullptr, &found, nullptr), LEHR_BAD_ARGUMENT) << handle;
    EXPECT_EQ(lehr_close(handle, nullptr), LEHR_BAD_ARGUMENT) << handle;
  }
  EXPECT_EQ(run(find(other, "scale m=4 width=4"), 4), expected(4));
  EXPECT_EQ(lehr_close(other, nullptr), LEHR_OK);
}

// A program of a first version, whose structs are shorter.
TEST(Runtime, FillsAShorterStructAsFarAsItGoes) {
  BundleFolder folder;
  add_scale(folder, 4, 4);
  folder.seal();
  const lehr_bundle bundle = open_bundle(folder);
  const lehr_kernel kernel = find(bundle, "scale m=4 width=4");
  lehr_kernel_info info;
  std::memset(&info, 0x5a, sizeof info);
  info.size = offsetof(lehr_kernel_info, name);
  EXPECT_EQ(lehr_info(kernel, &info, nullptr), LEHR_OK);
  EXPECT_STREQ(info.workload, "scale m=4 width=4 kind=double");
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(info.name), 0x5a5a5a5a5a5a5a5a);
  info.size = 0;
  EXPECT_EQ(lehr_info(kernel, &info, nullptr), LEHR_BAD_ARGUMENT);
  lehr_error small = {offsetof(lehr_error, text) + 8, "12345678x"};
  EXPECT_EQ(lehr_close(0, &small), LEHR_BAD_ARGUMENT);
  EXPECT_STREQ(small.text, "the bun");
  EXPECT_EQ(small.text[8], 'x');
  lehr_close(bundle, nullptr);
}

TEST(Runtime, ManyBundlesOpenAndCloseInAnyOrder) {
  BundleFolder folder;
  add_scale(folder, 4, 4);
  folder.seal();
  std::vector<lehr_bundle> bundles(20);
  for (lehr_bundle& bundle : bundles) bundle = open_bundle(folder);
  for (std::size_t i = 0; i < bundles.size(); i += 2) EXPECT_EQ(lehr_close(bundles[i], nullptr), LEHR_OK);
  for (std::size_t i = 1; i < bundles.size(); i += 2)
    EXPECT_EQ(run(find(bundles[i], "scale m=4 width=4"), 4), expected(4));
  for (std::size_t i = 1; i < bundles.size(); i += 2) EXPECT_EQ(lehr_close(bundles[i], nullptr), LEHR_OK);
}

// Any byte of what it loads, cut files, swapped files: nothing of it is loaded.
TEST(Runtime, NoCorruptionLoads) {
  BundleFolder folder;
  for (const int rows : {1, 4, 16}) add_scale(folder, rows, rows);
  folder.seal();
  expect_no_corruption_loads(folder, 1000);
  lehr_close(open_bundle(folder), nullptr);
}

// What a manifest with a right hash of itself may still say.
TEST(Runtime, AManifestThatMakesNoSenseIsRefused) {
  const auto refused = [](const auto& change) {
    BundleFolder folder;
    add_scale(folder, 4, 4);
    folder.seal();
    change(folder.manifest);
    folder.write_manifest();
    return refusal(LEHR_BAD_BUNDLE, [&](auto* error) {
      lehr_bundle bundle;
      return lehr_open(folder.path().c_str(), nullptr, &bundle, error);
    });
  };
  EXPECT_THAT(refused([](json& m) { m["version"] = 3; }),
              HasSubstr("is of a newer version than this library reads"));
  EXPECT_THAT(refused([](json& m) { m["format"] = "zip"; }),
              HasSubstr("is no manifest of a bundle's folder"));
  EXPECT_THAT(refused([](json& m) { m["kernels"] = json::array(); }), HasSubstr("has no kernels"));
  EXPECT_THAT(refused([](json& m) { m["kernels"][0]["file"] = "kernels/other.so"; }),
              HasSubstr("in a file whose hash it does not have"));
  for (const char* path :
       {"/etc/passwd", "../x.so", "kernels/../../x.so", "", "kernels//x", "kernels/.x", "a b"})
    EXPECT_THAT(refused([&](json& m) { m["files"][path] = std::string(64, '0'); }),
                HasSubstr("names a file outside of its folder"))
        << path;
  EXPECT_THAT(
      refused([](json& m) { m["kernels"][0]["self_test"] = {{"tolerance", 1}, {"output", {{1e9, 1}}}}; }),
      HasSubstr("has a self-test of an element that is not there"));
  EXPECT_THAT(refused([](json& m) { m["kernels"][0]["self_test"] = {{"output", {{0, 1}}}}; }),
              HasSubstr("has a self-test without a tolerance or an output"));
  EXPECT_THAT(refused([](json& m) { m["files"]["kernels/missing.so"] = std::string(64, '0'); }),
              HasSubstr("kernels/missing.so cannot be opened: No such file or directory"));
  EXPECT_THAT(refused([](json& m) { m["files"]["kernels"] = std::string(64, '0'); }),
              HasSubstr("kernels is no file"));
  EXPECT_THAT(refused([](json& m) { m["kernels"][0]["steps"][1]["entry"] = "missing"; }),
              HasSubstr("scale_4.so has no function named missing"));
  EXPECT_THAT(refused([](json& m) { m["kernels"][0]["steps"] = json::array(); }),
              HasSubstr("has a kernel without steps"));
  EXPECT_THAT(refused([](json& m) { m["kernels"][0]["params"][0]["alignment"] = 3; }),
              HasSubstr("alignment is no power of two"));
  EXPECT_THAT(refused([](json& m) { m["kernels"][0]["params"][0]["bytes"] = -4; }),
              HasSubstr("a parameter with a member that is missing or of the wrong kind"));
  EXPECT_THAT(refused([](json& m) { m["kernels"][0]["prepack"]["reads"] = {64}; }),
              HasSubstr("prepacks a parameter that is not there"));
  EXPECT_THAT(refused([](json& m) { m["kernels"][0]["threads"] = 0; }),
              HasSubstr("an impossible number of threads"));
  const auto kernel = [&](const auto& change) { return refused([&](json& m) { change(m["kernels"][0]); }); };
  EXPECT_THAT(kernel([](json& k) { k["steps"][0]["tasks"] = 0; }), HasSubstr("no function or no tasks"));
  EXPECT_THAT(kernel([](json& k) { k["scratch_bytes"] = 1e15; }), HasSubstr("member that is missing"));
  EXPECT_THAT(kernel([](json& k) { k["scratch_bytes"] = 1ull << 53; }), HasSubstr("more scratch"));
  EXPECT_THAT(kernel([](json& k) { k["name"] = "a b"; }), HasSubstr("not one of a function"));
  EXPECT_THAT(kernel([](json& k) { k["params"][0]["dtype"] = "f31"; }), HasSubstr("of an unknown type"));
  EXPECT_THAT(kernel([](json& k) { k["params"][0]["bytes"] = 63; }), HasSubstr("no elements of its type"));
  EXPECT_THAT(kernel([](json& k) { k["params"][0]["bytes"] = 60; }), HasSubstr("slices do not make up"));
  EXPECT_THAT(kernel([](json& k) { k["params"][2]["slice_bytes"] = 0; }), HasSubstr("slices do not make up"));
  EXPECT_THAT(kernel([](json& k) { k["params"][0]["slice_bytes"] = 1ull << 53; }),
              HasSubstr("slices do not make up"));
  EXPECT_THAT(kernel([](json& k) { k["slices"]["size"] = 8; }), HasSubstr("another number of slices"));
  EXPECT_THAT(kernel([](json& k) { k["params"][0]["name"] = "w"; }), HasSubstr("two parameters of one name"));
  EXPECT_THAT(kernel([](json& k) { k["params"][2]["role"] = "in"; }), HasSubstr("without an output"));
  EXPECT_THAT(kernel([](json& k) { std::swap(k["params"][2], k["params"][3]); }),
              HasSubstr("a tensor behind a parameter that is none"));
  EXPECT_THAT(kernel([](json& k) { k["params"].erase(3); }),
              HasSubstr("without a prepack, or the other way"));
  EXPECT_THAT(kernel([](json& k) { k.erase("prepack"); }), HasSubstr("without a prepack, or the other way"));
  EXPECT_THAT(kernel([](json& k) { k["prepack"]["reads"] = {2}; }), HasSubstr("that is no input"));
  EXPECT_THAT(kernel([](json& k) { k["params"][2].update({{"shape", {4, 4}}, {"strides", {4}}}); }),
              HasSubstr("impossible shape"));
  EXPECT_THAT(kernel([](json& k) { k["params"][2].update({{"shape", {4, 0}}, {"strides", {4, 1}}}); }),
              HasSubstr("impossible shape"));
  for (const json& strides : {json{1, 1}, json{4, 2}, json{8, 1}, json{4, 1, 1}})
    EXPECT_THAT(kernel([&](json& k) { k["params"][2].update({{"shape", {4, 4}}, {"strides", strides}}); }),
                HasSubstr("whose shape is not that of its bytes"));
}

TEST(Runtime, TellsTheShapeOfWhatItPutsTogether) {
  BundleFolder folder;
  add_scale(folder, 4, 4);
  folder.manifest["kernels"][0]["params"][2].update({{"shape", {4, 4}}, {"strides", {4, 1}}});
  folder.seal();
  const lehr_bundle bundle = open_bundle(folder);
  for (const std::uint64_t rows : {4u, 12u}) {
    const lehr_kernel kernel = find(bundle, ("scale width=4 m=" + std::to_string(rows)).c_str());
    lehr_param_info c = {};
    c.size = sizeof c;
    ASSERT_EQ(lehr_param(kernel, 2, &c, nullptr), LEHR_OK);
    EXPECT_EQ(c.dimensions, 2u);
    EXPECT_EQ(c.shape[0], rows);
    EXPECT_EQ(c.shape[1], 4u);
    EXPECT_EQ(c.strides[0], 4u);
    EXPECT_EQ(c.strides[1], 1u);
  }
  lehr_close(bundle, nullptr);
}

// Its hash is right: who wrote the folder copied it so.
TEST(Runtime, ALibraryThatIsNotWholeIsRefusedBeforeItIsLoaded) {
  BundleFolder folder;
  add_scale(folder, 4, 4);
  const std::string name = "kernels/scale_4.so", whole = folder.read_file(name);
  const auto refused = [&](const std::string& bytes, const char* what) {
    folder.write_file(name, bytes);
    folder.seal();
    lehr_bundle bundle;
    EXPECT_THAT(refusal(LEHR_BAD_BUNDLE,
                        [&](auto* e) { return lehr_open(folder.path().c_str(), nullptr, &bundle, e); }),
                HasSubstr("kernels/scale_4.so is no whole library for this machine"))
        << what;
  };
  for (std::size_t size = 0; size < whole.size(); size += size < 1024 ? 31 : 509)
    refused(whole.substr(0, size), "cut");
  refused(whole.substr(0, whole.size() - 1), "its last byte is missing");
  const auto changed = [&](const char* what, const auto& change) {
    std::string bytes = whole;
    Elf64_Ehdr header;
    std::memcpy(&header, bytes.data(), sizeof header);
    auto* const segments = reinterpret_cast<Elf64_Phdr*>(bytes.data() + header.e_phoff);
    change(header, segments);
    std::memcpy(bytes.data(), &header, sizeof header);
    refused(bytes, what);
  };
  using Header = Elf64_Ehdr&;
  using Segments = Elf64_Phdr*;
  constexpr std::uint64_t kHuge = ~std::uint64_t{0} - 7;
  changed("class", [](Header header, Segments) { header.e_ident[EI_CLASS] = ELFCLASS32; });
  changed("byte order", [](Header header, Segments) { header.e_ident[EI_DATA] = ELFDATA2MSB; });
  changed("magic", [](Header header, Segments) { header.e_ident[0] = 'E'; });
  changed("machine", [](Header header, Segments) { header.e_machine = EM_SPARCV9; });
  changed("type", [](Header header, Segments) { header.e_type = ET_REL; });
  changed("no segments", [](Header header, Segments) { header.e_phnum = 0; });
  changed("too many segments", [](Header header, Segments) { header.e_phnum = 0xffff; });
  changed("segments elsewhere", [&](Header header, Segments) { header.e_phoff = kHuge; });
  changed("segments' size", [](Header header, Segments) { header.e_phentsize = 8; });
  changed("sections elsewhere", [&](Header header, Segments) { header.e_shoff = kHuge; });
  changed("sections behind the end", [&](Header header, Segments) { header.e_shoff = whole.size() - 8; });
  changed("a segment elsewhere", [&](Header, Segments segments) { segments[0].p_offset = kHuge; });
  changed("a segment's size", [&](Header, Segments segments) { segments[0].p_filesz = kHuge; });
  changed("a segment of less memory", [](Header, Segments segments) { segments[0].p_memsz = 1; });
  folder.write_file(name, whole);
  folder.seal();
  lehr_close(open_bundle(folder), nullptr);
}

TEST(Runtime, WhatIsNoBundleIsRefused) {
  const auto open = [](const char* path) {
    return refusal(LEHR_BAD_BUNDLE, [&](auto* error) {
      lehr_bundle bundle;
      return lehr_open(path, nullptr, &bundle, error);
    });
  };
  EXPECT_THAT(open("/nowhere"), HasSubstr("/nowhere cannot be opened: No such file or directory"));
  EXPECT_THAT(open("/dev/null"), HasSubstr("/dev/null cannot be opened"));
  EXPECT_THAT(open(""), HasSubstr("cannot be opened"));
  BundleFolder folder;
  EXPECT_THAT(open(folder.path().c_str()),
              HasSubstr("manifest.json cannot be opened: No such file or directory"));
  folder.write_file("manifest.json", "");
  EXPECT_THAT(open(folder.path().c_str()), HasSubstr("manifest.json has no hash of itself"));
  fs::remove(folder.path() + "/manifest.json");
  ASSERT_EQ(mkfifo((folder.path() + "/manifest.json").c_str(), 0600), 0);
  EXPECT_THAT(open(folder.path().c_str()), HasSubstr("manifest.json is no file"));
  EXPECT_EQ(lehr_open(nullptr, nullptr, nullptr, nullptr), LEHR_BAD_ARGUMENT);
}

// C is 2 A W in these kernels: the test is told so, once rightly and once not.
TEST(Runtime, ASelfTestFindsAKernelThatComputesSomethingElse) {
  const auto folder_with = [](BundleFolder& folder, double factor) {
    add_scale(folder, 4, 1);
    const double value = factor * runtime::self_test_input(0, 7) * runtime::self_test_input(1, 3);
    folder.manifest["kernels"][0]["self_test"] = {{"tolerance", 1e-6}, {"output", {{7, value}}}};
    folder.seal();
  };
  const lehr_open_options tested = {sizeof tested, nullptr, 1, 0};
  BundleFolder right, wrong;
  folder_with(right, 2);
  folder_with(wrong, 2.5);
  lehr_error error = {sizeof error, ""};
  const lehr_bundle bundle = open_bundle(right, &tested);
  EXPECT_EQ(lehr_self_test(find(bundle, "scale m=8 width=4"), &error), LEHR_OK) << error.text;
  EXPECT_EQ(lehr_close(bundle, nullptr), LEHR_OK);
  lehr_bundle none;
  EXPECT_THAT(
      refusal(LEHR_WRONG_RESULT, [&](auto* e) { return lehr_open(wrong.path().c_str(), &tested, &none, e); }),
      HasSubstr("the kernel for 'scale m=4 width=4 kind=double' computes c[7] as"));
  const lehr_bundle untested = open_bundle(wrong);
  EXPECT_EQ(lehr_self_test(find(untested, "scale m=8 width=4"), &error), LEHR_WRONG_RESULT);
  EXPECT_EQ(lehr_self_test(0, &error), LEHR_BAD_ARGUMENT);
}

/// c[i] = s8(a[i] + b[i] / 2 + w[0]), and the bits of x as y.
constexpr const char* kNarrowText = R"cpp(
  extern "C" void sums(void* const* params, void*, long) {
    for (int i = 0; i < 16; ++i) {
      const float sum = ((const unsigned char*)params[0])[i] + ((const signed char*)params[1])[i] / 2 +
                        ((const float*)params[2])[0];
      ((signed char*)params[3])[i] = sum > 127 ? 127 : sum < -128 ? -128 : (signed char)sum;
    }
  }
  extern "C" void copy(void* const* params, void*, long) {
    for (int i = 0; i < 16; ++i) ((unsigned short*)params[1])[i] = ((const unsigned short*)params[0])[i];
  }
)cpp";

json narrow_kernel(const char* entry, std::initializer_list<json> params) {
  json kernel = testing::scale_kernel(4, 1);
  for (const char* key : {"prepack", "slices"}) kernel.erase(key);
  for (const char* key : {"defaults", "shorter"}) kernel[key] = "";
  kernel["name"] = entry;
  kernel["workload"] = kernel["name"];
  kernel["file"] = "kernels/narrow.so";
  kernel["steps"] = {{{"entry", entry}, {"tasks", 1}}};
  kernel["params"] = params;
  return kernel;
}

json dense(const char* name, const char* role, const char* dtype, int bytes) {
  return {{"name", name},   {"dtype", dtype}, {"role", role},
          {"bytes", bytes}, {"alignment", 1}, {"slice_bytes", 0}};
}

TEST(Runtime, ASelfTestIsOfEachTypeAndFillsInputsAsItIsTold) {
  const auto* const u8 = runtime::tested_type("u8");
  const auto* const s8 = runtime::tested_type("s8");
  const double sum = runtime::self_test_value(*u8, 0, 5, 90, 40) +
                     std::trunc(runtime::self_test_value(*s8, 1, 5, 0, 50) / 2.0) - 100;
  const lehr_open_options tested = {sizeof tested, nullptr, 1, 0};
  const auto opened = [&](double of_sums, double of_copy, const json& inputs) -> std::string {
    BundleFolder folder;
    folder.add_library("narrow", kNarrowText);
    folder.manifest["kernels"] = {
        narrow_kernel("sums", {dense("a", "in", "u8", 16), dense("b", "in", "s8", 16),
                               dense("w", "in", "f32", 4), dense("c", "out", "s8", 16)}),
        narrow_kernel("copy", {dense("x", "in", "bf16", 32), dense("y", "out", "bf16", 32)})};
    folder.manifest["kernels"][0]["self_test"] = {
        {"tolerance", 0}, {"inputs", inputs}, {"output", {{5, of_sums}}}};
    folder.manifest["kernels"][1]["self_test"] = {{"tolerance", 0}, {"output", {{3, of_copy}}}};
    folder.seal();
    lehr_bundle bundle = 0;
    lehr_error error = {sizeof error, ""};
    if (lehr_open(folder.path().c_str(), &tested, &bundle, &error) == LEHR_OK) lehr_close(bundle, nullptr);
    return error.text;
  };
  const json inputs = {{90, 40}, {0, 50}, {-100, 0}};
  const double copy = runtime::self_test_input(0, 3);
  EXPECT_EQ(opened(sum, copy, inputs), "");
  EXPECT_THAT(opened(sum + 1, copy, inputs), HasSubstr("the kernel for 'sums' computes c[5] as"));
  EXPECT_THAT(opened(sum, copy + 0.125, inputs), HasSubstr("the kernel for 'copy' computes y[3] as"));
  EXPECT_THAT(opened(sum, copy, {{90, 40}, {0, 50}}),
              HasSubstr("without a mean and a deviation of each input"));
  EXPECT_THAT(opened(sum, copy, {{90, 40}, {0, 50}, json::array({1})}),
              HasSubstr("a deviation of each input"));
  EXPECT_THAT(opened(sum, copy, {{90, 40}, {0, 50}, {1, 0}, {0, 1}}),
              HasSubstr("of more inputs than it takes"));
}

}  // namespace
}  // namespace lehr::testing
