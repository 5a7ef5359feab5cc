// Tests of the CUDA runner's logic against a fake driver (fake_cuda_driver.cpp): order of calls, checks,
// sampling, lost contexts.
#include "measure/cuda/cuda_runner.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "measure/core/element.h"
#include "measure/cuda/cuda_device.h"
#include "measure/system/temp_dir.h"
#include "target/cuda/archs.h"

namespace lehr {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kFakeDriver = LEHR_FAKE_CUDA_DRIVER;
constexpr std::int64_t kElements = 256;

class CudaRunnerOnAFakeDriver : public ::testing::Test {
 protected:
  void SetUp() override {
    library_ = dlopen(kFakeDriver, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
    function<void(std::size_t)>("fake_cuda_reset")(std::size_t{1} << 30);
    cubin_ = directory_.path() + "/candidate.cubin";
    std::ofstream(cubin_) << "FAKE CUBIN";
    std::vector<float> values, doubled;
    for (int i = 0; i < kElements; ++i) {
      values.push_back(static_cast<float>(i));
      doubled.push_back(static_cast<float>(2 * i));
    }
    problem_.arguments = {{.name = "x", .elements = kElements, .values = elements_of(DType::kF32, values)},
                          {.name = "y",
                           .elements = kElements,
                           .role = Role::kOut,
                           .absolute = 1e-6,
                           .expected = elements_of(DType::kF32, doubled)}};
  }
  void TearDown() override { dlclose(library_); }

  /// Returns libraries without NVML.
  static CudaLibraries libraries() { return {kFakeDriver, ""}; }
  template <typename Signature>
  Signature* function(const char* name) {
    return reinterpret_cast<Signature*>(dlsym(library_, name));
  }
  std::string calls() { return function<const char*()>("fake_cuda_calls")(); }
  std::string calls_since(const std::string& before) { return calls().substr(before.size()); }
  std::size_t launches_since(const std::string& before) {
    const std::string since = calls_since(before);
    std::size_t launches = 0;
    for (std::size_t at = since.find("cuLaunchKernel"); at != std::string::npos;
         at = since.find("cuLaunchKernel", at + 1)) {
      ++launches;
    }
    return launches;
  }

  Candidate candidate(std::string entry, std::int64_t shared_bytes = 0) const {
    Candidate candidate;
    candidate.path = cubin_;
    candidate.entry = std::move(entry);
    candidate.launch.grid = {2, 1, 1};
    candidate.launch.block = {128, 1, 1};
    candidate.launch.shared_bytes = shared_bytes;
    return candidate;
  }
  /// Returns a candidate with a workspace of two counters.
  Candidate with_workspace(std::string entry) const {
    Candidate result = candidate(std::move(entry));
    result.workspace_bytes = {8};
    return result;
  }
  Fault check_fault(CudaRunner& runner, std::string entry) {
    return check_fault(runner, candidate(std::move(entry)));
  }
  static Fault check_fault(CudaRunner& runner, const Candidate& candidate) {
    EXPECT_TRUE(std::holds_alternative<Resources>(runner.load(1, candidate)));
    const auto checked = runner.check(1);
    EXPECT_TRUE(std::holds_alternative<Fault>(checked));
    return std::holds_alternative<Fault>(checked) ? std::get<Fault>(checked) : Fault{};
  }

  void* library_ = nullptr;
  TempDir directory_;
  std::string cubin_;
  Problem problem_;
};

TEST_F(CudaRunnerOnAFakeDriver, AcceptsARightResult) {
  CudaRunner runner(libraries());
  runner.prepare(problem_, {});
  const auto loaded = runner.load(0, candidate("doubles"));
  ASSERT_TRUE(std::holds_alternative<Resources>(loaded));
  EXPECT_EQ(std::get<Resources>(loaded).registers, 42);
  EXPECT_EQ(std::get<Resources>(loaded).stack_bytes, 16);
  EXPECT_EQ(std::get<Resources>(loaded).shared_bytes, 64);
  const auto checked = runner.check(0);
  ASSERT_TRUE(std::holds_alternative<Checked>(checked)) << std::get<Fault>(checked).failure.text;
  EXPECT_EQ(std::get<Checked>(checked).max_error, 0);
  const auto output = runner.output();
  ASSERT_TRUE(std::holds_alternative<std::vector<RunOutput>>(output));
  const RunOutput& bits = std::get<std::vector<RunOutput>>(output).at(0);
  ASSERT_EQ(bits.bytes.size(), kElements * sizeof(float));
  EXPECT_EQ(bits.element_bytes, 4);
  EXPECT_EQ(bits.bytes, problem_.arguments[1].expected);
}

TEST_F(CudaRunnerOnAFakeDriver, PassesTensorMapsWhereThereAreSome) {
  CudaRunner runner(libraries());
  runner.prepare(problem_, {});
  Candidate with_map = candidate("doubles");
  ir::TensorMap map;
  map.rank = 3;
  map.dims = {16, 4, 4};
  map.strides = {1, 16, 64};
  map.box = {8, 4, 1};
  map.swizzle = 32;
  map.tf32 = true;
  with_map.tensor_maps = {{0, DType::kF32, map}};
  ASSERT_TRUE(std::holds_alternative<Resources>(runner.load(0, with_map)));
  const auto checked = runner.check(0);
  ASSERT_TRUE(std::holds_alternative<Checked>(checked)) << std::get<Fault>(checked).failure.text;
  // CUDA Driver API: TFLOAT32 = 11; strides in bytes, without the innermost; no interleave, SWIZZLE_32B = 1,
  // L2_256B = 3, zeros outside.
  EXPECT_STREQ(function<const char*()>("fake_cuda_tensor_map")(),
               "type 11 rank 3 dims 16 4 4 strides 64 256 box 8 4 1 0 1 3 0");
}

TEST_F(CudaRunnerOnAFakeDriver, PoisonsTheOutputBeforeEveryCheckedRun) {
  CudaRunner runner(libraries());
  runner.prepare(problem_, {});
  ASSERT_TRUE(std::holds_alternative<Resources>(runner.load(0, candidate("doubles"))));
  ASSERT_TRUE(std::holds_alternative<Checked>(runner.check(0)));
  // The right values of the last run must not count for it.
  const Fault fault = check_fault(runner, "halves");
  EXPECT_EQ(fault.failure.kind, FailureKind::kWrongResult);
  EXPECT_THAT(fault.failure.text, HasSubstr("128"));
  EXPECT_FALSE(fault.worker_lost);
}

TEST_F(CudaRunnerOnAFakeDriver, FindsAWrongResult) {
  CudaRunner runner(libraries());
  runner.prepare(problem_, {});
  EXPECT_EQ(check_fault(runner, "wrong").failure.kind, FailureKind::kWrongResult);
}

TEST_F(CudaRunnerOnAFakeDriver, FindsWritesOutsideATensorAndBlamesNobodyElseForThem) {
  CudaRunner runner(libraries());
  runner.prepare(problem_, {});
  EXPECT_THAT(check_fault(runner, "behind").failure.text, HasSubstr("12 bytes behind its end"));
  ASSERT_TRUE(std::holds_alternative<Resources>(runner.load(0, candidate("doubles"))));
  EXPECT_TRUE(std::holds_alternative<Checked>(runner.check(0)));
  EXPECT_THAT(check_fault(runner, "before").failure.text, HasSubstr("8 bytes before its begin"));
  EXPECT_TRUE(std::holds_alternative<Checked>(runner.check(0)));
}

TEST_F(CudaRunnerOnAFakeDriver, FindsAnInputThatWasModifiedAndBlamesNobodyElseForIt) {
  CudaRunner runner(libraries());
  runner.prepare(problem_, {});
  EXPECT_THAT(check_fault(runner, "modifies").failure.text, HasSubstr("modified its input (argument 0)"));
  ASSERT_TRUE(std::holds_alternative<Resources>(runner.load(0, candidate("doubles"))));
  EXPECT_TRUE(std::holds_alternative<Checked>(runner.check(0)));
  EXPECT_EQ(runner.damage_by_another(), std::nullopt);
  // The kernel is right in its first call, and not when it is timed.
  ASSERT_TRUE(std::holds_alternative<Resources>(runner.load(1, candidate("modifies_later"))));
  EXPECT_TRUE(std::holds_alternative<Checked>(runner.check(1)));
  ASSERT_TRUE(std::holds_alternative<Samples>(runner.time(1, {})));
  const std::optional<Fault> damage = runner.damage_by_another();
  ASSERT_TRUE(damage);
  EXPECT_TRUE(damage->of_another);
  const auto again = runner.check_left(1);
  ASSERT_TRUE(std::holds_alternative<Fault>(again));
  EXPECT_THAT(std::get<Fault>(again).failure.text, HasSubstr("modified its input (argument 0)"));
}

TEST_F(CudaRunnerOnAFakeDriver, GivesAKernelItsWorkspaceZeroedOnceAndLaunchesItAgainOnTheSame) {
  CudaRunner runner(libraries());
  runner.prepare(problem_, {});
  ASSERT_TRUE(std::holds_alternative<Resources>(runner.load(0, with_workspace("workspace_kept_clean"))));
  const std::string before = calls();
  EXPECT_TRUE(std::holds_alternative<Checked>(runner.check(0)));
  EXPECT_EQ(launches_since(before), 2u);
  EXPECT_TRUE(std::holds_alternative<Samples>(runner.time(0, {})));
}

TEST_F(CudaRunnerOnAFakeDriver, FindsAWorkspaceThatIsNotLeftAsTheNextLaunchNeedsIt) {
  CudaRunner runner(libraries());
  runner.prepare(problem_, {});
  const Fault fault = check_fault(runner, with_workspace("workspace_left_dirty"));
  EXPECT_EQ(fault.failure.kind, FailureKind::kWrongResult);
  // A new candidate gets a new workspace.
  ASSERT_TRUE(std::holds_alternative<Resources>(runner.load(1, with_workspace("workspace_kept_clean"))));
  EXPECT_TRUE(std::holds_alternative<Checked>(runner.check(1)));
}

TEST_F(CudaRunnerOnAFakeDriver, LaunchesAKernelThatMayOverlapAsOneAndChecksTwoAtOnce) {
  CudaRunner runner(libraries());
  runner.prepare(problem_, {});
  for (const bool overlaps : {true, false}) {
    Candidate doubles = candidate("doubles");
    doubles.launch.programmatic = overlaps;
    ASSERT_TRUE(std::holds_alternative<Resources>(runner.load(0, doubles)));
    const std::string before = calls();
    EXPECT_TRUE(std::holds_alternative<Checked>(runner.check(0)));
    EXPECT_EQ(launches_since(before), overlaps ? 3u : 1u);  // alone, and two behind each other
    EXPECT_EQ(calls_since(before).find("programmatic") != std::string::npos, overlaps);
  }
}

TEST_F(CudaRunnerOnAFakeDriver, FindsWritesOutsideAWorkspace) {
  CudaRunner runner(libraries());
  runner.prepare(problem_, {});
  EXPECT_THAT(check_fault(runner, with_workspace("workspace_overrun")).failure.text,
              HasSubstr("outside workspace 0: 4 bytes behind its end"));
}

TEST_F(CudaRunnerOnAFakeDriver, SaysThatAWorkspaceDoesNotFit) {
  CudaRunner runner(libraries());
  runner.prepare(problem_, {});
  Candidate greedy = with_workspace("workspace_kept_clean");
  greedy.workspace_bytes = {std::int64_t{1} << 40};
  const auto loaded = runner.load(0, greedy);
  ASSERT_TRUE(std::holds_alternative<Fault>(loaded));
  EXPECT_EQ(std::get<Fault>(loaded).failure.kind, FailureKind::kOutOfMemory);
}

TEST_F(CudaRunnerOnAFakeDriver, LosesTheWorkerOnAStickyError) {
  CudaRunner runner(libraries());
  runner.prepare(problem_, {});
  const Fault fault = check_fault(runner, "illegal");
  EXPECT_TRUE(fault.worker_lost);
  EXPECT_EQ(fault.failure.kind, FailureKind::kCrash);
  EXPECT_THAT(fault.failure.text,
              HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)"));
  EXPECT_THAT(fault.failure.text, HasSubstr("the worker is replaced"));
}

TEST_F(CudaRunnerOnAFakeDriver, CallsALaunchTimeoutATimeout) {
  CudaRunner runner(libraries());
  runner.prepare(problem_, {});
  const Fault fault = check_fault(runner, "forever");
  EXPECT_TRUE(fault.worker_lost);
  EXPECT_EQ(fault.failure.kind, FailureKind::kTimeout);
}

TEST_F(CudaRunnerOnAFakeDriver, GoesOnAfterARefusedLaunch) {
  CudaRunner runner(libraries());
  runner.prepare(problem_, {});
  const Fault fault = check_fault(runner, "refused");
  EXPECT_FALSE(fault.worker_lost);
  EXPECT_EQ(fault.failure.kind, FailureKind::kLaunch);
  ASSERT_TRUE(std::holds_alternative<Resources>(runner.load(1, candidate("refused"))));
  EXPECT_TRUE(std::holds_alternative<Fault>(runner.time(1, {})));
  ASSERT_TRUE(std::holds_alternative<Resources>(runner.load(0, candidate("doubles"))));
  EXPECT_TRUE(std::holds_alternative<Checked>(runner.check(0)));
  EXPECT_TRUE(std::holds_alternative<Samples>(runner.time(0, {})));
}

TEST_F(CudaRunnerOnAFakeDriver, ReportsWhatCannotBeLoaded) {
  CudaRunner runner(libraries());
  runner.prepare(problem_, {});
  EXPECT_TRUE(std::holds_alternative<Fault>(runner.load(0, candidate("absent"))));
  Candidate big = candidate("doubles");
  big.launch.block = {512, 1, 1};
  const auto refused = runner.load(0, big);
  ASSERT_TRUE(std::holds_alternative<Fault>(refused));
  EXPECT_THAT(std::get<Fault>(refused).failure.text, HasSubstr("512 threads"));
  Candidate missing = candidate("doubles");
  missing.path += ".gone";
  EXPECT_TRUE(std::holds_alternative<Fault>(runner.load(0, missing)));
  std::ofstream(cubin_) << "NO CUBIN AT ALL";
  EXPECT_TRUE(std::holds_alternative<Fault>(runner.load(0, candidate("doubles"))));
}

TEST_F(CudaRunnerOnAFakeDriver, AsksForSharedMemoryOnlyAbove48KiB) {
  CudaRunner runner(libraries());
  runner.prepare(problem_, {});
  ASSERT_TRUE(std::holds_alternative<Resources>(runner.load(0, candidate("doubles", 40 * 1024))));
  EXPECT_THAT(calls(), Not(HasSubstr("cuFuncSetAttribute")));
  ASSERT_TRUE(std::holds_alternative<Resources>(runner.load(1, candidate("wrong", 200 * 1024))));
  EXPECT_EQ(function<int(const char*)>("fake_cuda_dynamic_shared")("wrong"), 200 * 1024);
  EXPECT_TRUE(std::holds_alternative<Fault>(runner.load(2, candidate("wrong", 300 * 1024))));
}

TEST_F(CudaRunnerOnAFakeDriver, FlushesTheCacheBeforeTheFirstEventOfASample) {
  CudaRunner runner(libraries());
  runner.prepare(problem_, {});
  ASSERT_TRUE(std::holds_alternative<Resources>(runner.load(0, candidate("doubles"))));
  SampleRequest request;
  request.min_samples = 1;
  request.min_total_us = 0;
  const std::string before = calls();
  ASSERT_TRUE(std::holds_alternative<Samples>(runner.time(0, request)));
  EXPECT_THAT(calls_since(before),
              HasSubstr("cuMemsetD8Async cuEventRecord cuGraphLaunch cuEventRecord cuStreamSynchronize"));
}

TEST_F(CudaRunnerOnAFakeDriver, GivesTimePerLaunchAndAsManySamplesAsAsked) {
  CudaRunner runner(libraries());
  runner.prepare(problem_, {});
  ASSERT_TRUE(std::holds_alternative<Resources>(runner.load(0, candidate("doubles"))));
  SampleRequest request;  // a fake launch takes 15.625 us, so a sample of 1000 us has 64 of them
  const std::string before = calls();
  const auto timed = runner.time(0, request);
  ASSERT_TRUE(std::holds_alternative<Samples>(timed));
  const Samples& samples = std::get<Samples>(timed);
  EXPECT_EQ(samples.us.size(), 15u);  // 15 ms of 1 ms samples
  for (const double us : samples.us) EXPECT_EQ(us, 15.625);
  EXPECT_EQ(launches_since(before), 1u + 64u);  // captured: once for the warm-up call, once for the samples
}

TEST_F(CudaRunnerOnAFakeDriver, PutsTwentyLaunchesOfAShortKernelIntoEverySample) {
  CudaRunner runner(libraries());
  runner.prepare(problem_, {});
  ASSERT_TRUE(std::holds_alternative<Resources>(runner.load(0, candidate("doubles"))));
  SampleRequest request;
  request.sample_us = 100;  // 7 fake launches would fill it
  request.min_samples = 1;
  request.min_total_us = 0;
  const std::string before = calls();
  ASSERT_TRUE(std::holds_alternative<Samples>(runner.time(0, request)));
  EXPECT_EQ(launches_since(before), 1u + 20u);
}

TEST_F(CudaRunnerOnAFakeDriver, StopsEarlyOnAHopelessCandidate) {
  CudaRunner runner(libraries());
  runner.prepare(problem_, {});
  ASSERT_TRUE(std::holds_alternative<Resources>(runner.load(0, candidate("doubles"))));
  SampleRequest request;
  request.hopeless_us = 5;
  const auto timed = runner.time(0, request);
  ASSERT_TRUE(std::holds_alternative<Samples>(timed));
  EXPECT_TRUE(std::get<Samples>(timed).hopeless);
  EXPECT_EQ(std::get<Samples>(timed).us.size(), 3u);
}

/// A graph's first launch uploads it: between two events that reads as a kernel of 66 us where it takes 16.
TEST_F(CudaRunnerOnAFakeDriver, IsNotMisledByTheFirstLaunchOfAGraph) {
  for (const auto& [upload_us, cold_us] :
       {std::pair{50.0, 0.0}, std::pair{0.0, 50.0}, std::pair{50.0, 50.0}}) {
    CudaRunner runner(libraries());
    runner.prepare(problem_, {});
    ASSERT_TRUE(std::holds_alternative<Resources>(runner.load(0, candidate("doubles"))));
    SampleRequest request;
    request.hopeless_us = 40;  // between the two
    function<void(double, double)>("fake_cuda_first_launches")(upload_us, cold_us);
    const std::string before = calls();
    const auto timed = runner.time(0, request);
    ASSERT_TRUE(std::holds_alternative<Samples>(timed));
    const Samples& samples = std::get<Samples>(timed);
    EXPECT_FALSE(samples.hopeless);
    EXPECT_EQ(samples.us.size(), 15u);
    for (const double us : samples.us) EXPECT_NEAR(us, 15.625, 1e-3);
    EXPECT_EQ(launches_since(before), 1u + 64u);  // a sample of 1000 us is full
  }
}

TEST_F(CudaRunnerOnAFakeDriver, TimesOneLaunchPerSampleWhenCold) {
  CudaRunner runner(libraries());
  RunSettings settings;
  settings.cold = true;
  runner.prepare(problem_, settings);
  ASSERT_TRUE(std::holds_alternative<Resources>(runner.load(0, candidate("doubles"))));
  const auto timed = runner.time(0, {});
  ASSERT_TRUE(std::holds_alternative<Samples>(timed));
  EXPECT_EQ(std::get<Samples>(timed).us.size(), 960u);
}

TEST_F(CudaRunnerOnAFakeDriver, MakesDoWithFewerSetsWhenMemoryIsShort) {
  function<void(std::size_t)>("fake_cuda_reset")((2u << 20) +
                                                 100 * 1024);  // the flush buffer and a little more
  CudaRunner runner(libraries());
  runner.prepare(problem_, {});
  ASSERT_TRUE(std::holds_alternative<Resources>(runner.load(0, candidate("doubles"))));
  EXPECT_TRUE(std::holds_alternative<Checked>(runner.check(0)));
  EXPECT_TRUE(std::holds_alternative<Samples>(runner.time(0, {})));
}

TEST_F(CudaRunnerOnAFakeDriver, SaysThatAProblemDoesNotFit) {
  function<void(std::size_t)>("fake_cuda_reset")((2u << 20) + 1024);
  CudaRunner runner(libraries());
  try {
    runner.prepare(problem_, {});
    FAIL() << "it fitted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_THAT(error.what(), HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"));
  }
}

TEST_F(CudaRunnerOnAFakeDriver, FreesWhatItAllocated) {
  {
    CudaRunner runner(libraries());
    runner.prepare(problem_, {});
    runner.prepare(problem_, {});
    ASSERT_TRUE(std::holds_alternative<Resources>(runner.load(0, candidate("doubles"))));
    runner.unload(0);
    ASSERT_TRUE(std::holds_alternative<Resources>(runner.load(1, candidate("doubles"))));
  }
  EXPECT_EQ(function<int()>("fake_cuda_allocations")(), 0);
  EXPECT_THAT(calls(), ::testing::EndsWith("cuDevicePrimaryCtxRelease "));
}

TEST_F(CudaRunnerOnAFakeDriver, FillsTheDevicesLimits) {
  std::string why_not;
  const auto driver = CudaDriver::open(kFakeDriver, why_not);
  ASSERT_TRUE(driver) << why_not;
  const auto device = cuda_device_of(*driver, 0, why_not);
  ASSERT_TRUE(device) << why_not;
  EXPECT_EQ(device->name, "Fake H200");
  EXPECT_EQ(device->driver, "13.0");
  EXPECT_EQ(device->uuid, "GPU-00112233-4455-6677-8899-aabbccddeeff");
  EXPECT_EQ(device->limits.arch, "sm_90a");
  EXPECT_EQ(device->limits.shared_bytes_per_block, 232448);
  EXPECT_NEAR(device->limits.peak_gflops_f32, 67000, 200);  // the data sheet's number
  EXPECT_NEAR(device->limits.dram_gbytes_per_s, 4800, 150);
  EXPECT_NEAR(device->limits.tensor_gflops_f16, 989000, 3000);
  EXPECT_EQ(device->limits.shared_bytes_reserved, 1024) << "an old driver does not say, the table does";
  EXPECT_TRUE(device->limits.has(Ability::kWgmma));
  EXPECT_FALSE(cuda_device_of(*driver, 1, why_not));
  EXPECT_THAT(why_not, HasSubstr("no cuda:1"));
}

TEST_F(CudaRunnerOnAFakeDriver, WhatTheDriverSaysWinsOverTheTableOfArchitectures) {
  auto* const set = function<void(int, int)>("fake_cuda_set_attribute");
  for (const auto& [attribute, value] :
       {std::pair(75, 8), {76, 9}, {16, 58}, {13, 1800000}, {38, 48 << 20}, {106, 23}, {111, 2048}})
    set(attribute, value);
  std::string why_not;
  const auto driver = CudaDriver::open(kFakeDriver, why_not);
  ASSERT_TRUE(driver) << why_not;
  const auto device = cuda_device_of(*driver, 0, why_not);
  ASSERT_TRUE(device) << why_not;
  const Limits& limits = device->limits;
  EXPECT_EQ(limits.arch, "sm_89");
  EXPECT_EQ(limits.cores, 58);
  EXPECT_EQ(limits.l2_bytes, 48 << 20);
  EXPECT_EQ(limits.max_blocks_per_core, 23);
  EXPECT_EQ(limits.shared_bytes_reserved, 2048);
  EXPECT_NEAR(limits.peak_gflops_f32, 58 * 1.8 * 256, 1);
  EXPECT_NEAR(limits.tensor_gflops_f16 / limits.peak_gflops_f32, 4, 0.1)
      << "scaled with clock and multiprocessors";
}

TEST_F(CudaRunnerOnAFakeDriver, NamesTheArchitecturesThatItHasKernelsFor) {
  auto* const set = function<void(int, int)>("fake_cuda_set_attribute");
  std::string why_not;
  const auto driver = CudaDriver::open(kFakeDriver, why_not);
  ASSERT_TRUE(driver) << why_not;
  for (const int major : {6, 13}) {
    set(75, major);
    EXPECT_FALSE(cuda_device_of(*driver, 0, why_not));
    EXPECT_EQ(why_not, fmt::format("cuda:0 (Fake H200) is sm_{}0; Lehr's kernels are for {}", major,
                                   fmt::join(known_cuda_archs(), ", ")));
  }
}

TEST_F(CudaRunnerOnAFakeDriver, CountsTheClustersThatRunAtTheSameTime) {
  std::string why_not;
  const auto driver = CudaDriver::open(kFakeDriver, why_not);
  ASSERT_TRUE(driver) << why_not;
  EXPECT_THAT(cuda_device_of(*driver, 0, why_not)->limits.clusters_at_once,
              ::testing::ElementsAre(66, 31, 15));
  function<void(int, int)>("fake_cuda_set_attribute")(16, 114);  // an H100 PCIe's
  const auto device = cuda_device_of(*driver, 0, why_not);
  ASSERT_TRUE(device) << why_not;
  EXPECT_EQ(device->limits.cores, 114);
  EXPECT_THAT(device->limits.clusters_at_once, ::testing::ElementsAre(57, 26, 12));
  EXPECT_THAT(calls(), ::testing::EndsWith("cuModuleUnload cuDevicePrimaryCtxRelease "));
}

TEST(CudaDevice, IsFoundByADriverThatCountsNoClusters) {
  std::string why_not;
  const auto driver = CudaDriver::open(LEHR_FAKE_CUDA_DRIVER_BEFORE_11_8, why_not);
  ASSERT_TRUE(driver) << why_not;
  const auto device = cuda_device_of(*driver, 0, why_not);
  ASSERT_TRUE(device) << why_not;
  EXPECT_THAT(device->limits.clusters_at_once, ::testing::ElementsAre(0, 0, 0));
}

TEST(CudaRunner, SaysThatTheDriverIsMissing) {
  CudaRunner runner(CudaLibraries{"libno_such_driver.so.1", ""});
  try {
    runner.prepare({}, {});
    FAIL() << "prepared without a driver";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_THAT(error.what(), HasSubstr("libno_such_driver.so.1 was not found"));
  }
}

}  // namespace
}  // namespace lehr
