// Tests of `lehr compile`, and of what tuning for CUDA says where something is missing. The compiler is the
// fake of tests/measure/fake_nvrtc.cpp, found before the real one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "support.h"

namespace lehr::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kFakeCompiler = "LD_LIBRARY_PATH=" LEHR_FAKE_NVRTC;

Ran compile(const std::string& more, const Scratch& scratch, const std::string& behaviour = "") {
  return run_lehr(words("compile gemm --m 256 --n 256 --k 256 " + more), scratch.path(), {},
                  {kFakeCompiler, "LEHR_FAKE_NVRTC=" + behaviour});
}

TEST(Conv2dFlags, SayTypesAndMath) {
  const Scratch scratch;
  const auto shown = [&](const std::string& more) {
    return run_lehr(words("show conv2d --h 9 --w 9 --c 16 --k 8 --r 3 --layout nhwc --arch sm_90a --as ast " +
                          more),
                    scratch.path())
        .out;
  };
  EXPECT_THAT(shown("--dtype e4m3 --y bf16 --math two_level"),
              HasSubstr("x=e4m3 f=e4m3 y=bf16 accum=f32 epilogue=none math=two_level"));
  EXPECT_THAT(shown("--math tf32"), HasSubstr("kernel conv2d_wgmma"));
  EXPECT_THAT(shown("--math 3xtf32"), HasSubstr("kernel conv2d_mma"));
  EXPECT_THAT(shown(""), ::testing::Not(HasSubstr("math=")));
}

TEST(Compile, PrintsWhatSampledKernelsUseWithoutAGpu) {
  const Scratch scratch;
  const Ran ran = compile("--arch sm_90a --samples 6 --seed 3 --jobs 2 --family gemm_simt --json", scratch);
  EXPECT_EQ(ran.code, 0) << ran.err;
  const json document = json::parse(ran.out);
  EXPECT_EQ(document["arch"], "sm_90a");
  EXPECT_EQ(document["jobs"], 2);
  EXPECT_THAT(document["compiler"].get<std::string>(), HasSubstr("--gpu-architecture=sm_90a"));
  EXPECT_GT(document["kernels_per_s"].get<double>(), 0);
  ASSERT_EQ(document["kernels"].size(), 6u);
  std::set<std::string> configs;
  for (const json& kernel : document["kernels"]) {
    configs.insert(kernel["config"].get<std::string>());
    EXPECT_THAT(kernel["config"].get<std::string>(), ::testing::StartsWith("gemm_simt("));
    EXPECT_EQ(kernel["result"], "ok");
    EXPECT_EQ(kernel["resources"]["registers"], 40);
    EXPECT_EQ(kernel["resources"]["spill_bytes"], 0);
    EXPECT_TRUE(kernel["resources"]["shared_bytes"].is_number());
  }
  EXPECT_EQ(configs.size(), 6u);
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));

  const Ran again = compile("--arch sm_90a --samples 6 --seed 3 --family gemm_simt --json", scratch);
  const json document_again = json::parse(again.out);
  for (const json& kernel : document_again["kernels"])
    EXPECT_TRUE(configs.contains(kernel["config"].get<std::string>()));
}

TEST(Compile, PrintsATableOfTheDefaults) {
  const Scratch scratch;
  const Ran ran = compile("--arch sm_80", scratch);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("registers"));
  EXPECT_THAT(ran.out, HasSubstr("gemm_simt("));
  EXPECT_THAT(ran.out, HasSubstr("kernels/s\n"));
}

TEST(Compile, CompilesForTheCpuToo) {
  const Scratch scratch;
  const Ran ran = run_lehr(words("compile gemm --m 8 --n 8 --k 8 --device cpu --json"), scratch.path());
  EXPECT_EQ(ran.code, 0) << ran.err;
  const json document = json::parse(ran.out);
  for (const json& kernel : document["kernels"]) EXPECT_EQ(kernel["result"], "ok");
}

TEST(Compile, ReportsRejectedAndLostKernelsWithExitCodeOne) {
  struct Case {
    std::string behaviour, result, text;
  };
  for (const Case& one : {Case{"fake:spill;", "rejected", "spilled 20 bytes per thread"},
                          Case{"fake:advise;", "rejected", "(C7510)"},
                          Case{"fake:crash;", "compile", "the compiler crashed: SIGSEGV"},
                          Case{"fake:refuse;", "compile", "error: identifier"}}) {
    SCOPED_TRACE(one.behaviour);
    const Scratch scratch;
    const Ran ran = compile("--arch sm_90a --samples 3 --json", scratch, one.behaviour);
    EXPECT_EQ(ran.code, 1) << ran.err;
    const json document = json::parse(ran.out);
    ASSERT_EQ(document["kernels"].size(), 3u);
    for (const json& kernel : document["kernels"]) {
      EXPECT_EQ(kernel["result"], one.result);
      EXPECT_THAT(kernel["text"].get<std::string>(), HasSubstr(one.text));
    }
    EXPECT_THAT(compile("--arch sm_90a --samples 3", scratch, one.behaviour).out,
                HasSubstr("failed: " + one.result + " 3, the first with "));
  }
}

TEST(Compile, ShowsTheLogOfARejectedKernel) {
  const Scratch scratch;
  const Ran ran = run_lehr(words("show gemm --m 256 --n 256 --k 256 --arch sm_90a --as log --json"),
                           scratch.path(), {}, {kFakeCompiler, "LEHR_FAKE_NVRTC=fake:spill;"});
  EXPECT_EQ(ran.code, 1) << ran.err;
  const json document = json::parse(ran.out);
  EXPECT_EQ(document["failure"], "rejected");
  EXPECT_EQ(document["resources"]["spill_bytes"], 20);
  EXPECT_EQ(document["resources"]["stack_bytes"], 16);
  EXPECT_THAT(document["log"].get<std::string>(), HasSubstr("Used 40 registers"));
}

/// True once the process is gone, or is a zombie.
bool has_ended(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name, state;
  return !(file >> number >> name >> state) || state == "Z";
}

TEST(Compile, LeavesNoWorkerBehindWhenItIsKilled) {
  const Scratch scratch;
  const std::string pids_path = (scratch.path() / "pids").string();
  std::vector<int> pids;
  const Ran ran = run_lehr(
      words("compile gemm --m 256 --n 256 --k 256 --arch sm_90a --samples 2 --jobs 2"), scratch.path(),
      [&](int lehr, const std::string&) {
        if (pids.size() == 2) return;
        pids.clear();
        std::ifstream file(pids_path);
        for (int pid; file >> pid;) pids.push_back(pid);
        if (pids.size() == 2) kill(lehr, SIGKILL);
      },
      {kFakeCompiler, "LEHR_FAKE_NVRTC=fake:hang;", "LEHR_FAKE_NVRTC_PIDS=" + pids_path});
  EXPECT_EQ(ran.code, 1000 + SIGKILL) << ran.err;
  ASSERT_EQ(pids.size(), 2u);
  for (const int pid : pids) {
    for (int waited = 0; !has_ended(pid) && waited < 1000; ++waited) usleep(10'000);
    EXPECT_TRUE(has_ended(pid)) << pid;
  }
}

}  // namespace
}  // namespace lehr::testing
