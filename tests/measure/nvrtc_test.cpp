// NVRTC as a Compiler. Skipped where NVRTC is not installed.
#include "measure/cuda/nvrtc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "measure/worker/compile_pool.h"

namespace lehr {
namespace {

using testing::HasSubstr;

Source source_of(std::string entry, std::string text, std::int64_t shared_bytes = 0) {
  Source source;
  source.target = Target::kCuda;
  source.entry = std::move(entry);
  source.text = std::move(text);
  source.launch.shared_bytes = shared_bytes;
  return source;
}

Source good(std::string entry) {
  return source_of(
      entry,
      "extern \"C\" __global__ void " + entry +
          "(const float* a, float* c) {\n  extern __shared__ float s[];\n  s[threadIdx.x] = "
          "a[threadIdx.x];\n  __syncthreads();\n  c[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];\n}\n",
      1024);
}

Source spilling() {
  return source_of("spilling", R"(
extern "C" __global__ void __launch_bounds__(1024, 2) spilling(const float* a, float* c, int n) {
  float x[64];
  for (int i = 0; i < 64; ++i) x[i] = a[i * 1024 + threadIdx.x];
  for (int k = 0; k < n; ++k) {
#pragma unroll
    for (int i = 0; i < 64; ++i) x[i] = x[i] * x[(i * 7 + 3) % 64] + a[k];
  }
  for (int i = 0; i < 64; ++i) c[i * 1024 + threadIdx.x] = x[i];
}
)");
}

class Nvrtc : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto reason = why_no_nvrtc()) GTEST_SKIP() << *reason;
  }
  static WorkerCompilerOptions options() {
    WorkerCompilerOptions options;
    options.arch = "sm_80";
    return options;
  }
};

TEST_F(Nvrtc, GivesACubinAndItsResources) {
  NvrtcCompiler compiler(options());
  const std::vector<Source> sources = {good("reversed")};
  const std::vector<Compiled> results = compiler.compile(sources);
  ASSERT_EQ(results.size(), 1u);
  ASSERT_TRUE(std::holds_alternative<Binary>(results[0])) << std::get<Failure>(results[0]).text;
  const Binary& binary = std::get<Binary>(results[0]);
  EXPECT_GT(std::filesystem::file_size(binary.path), 1000u);
  EXPECT_GT(binary.resources.registers.value_or(0), 0);
  EXPECT_EQ(binary.resources.spill_bytes, 0);
  EXPECT_EQ(binary.resources.shared_bytes, 1024);
  EXPECT_GT(binary.resources.compile_s, 0);
}

TEST_F(Nvrtc, RemovesItsCubinsAtTheEnd) {
  std::string path;
  {
    NvrtcCompiler compiler(options());
    const std::vector<Source> sources = {good("reversed")};
    path = std::get<Binary>(compiler.compile(sources)[0]).path;
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Nvrtc, KeepsTheOrderOfItsSourcesInWorkerProcesses) {
  CompilePoolOptions parallel;
  parallel.worker.executable = LEHR_MEASURE_WORKER;
  parallel.target = Target::kCuda;
  parallel.compiler = options();
  parallel.workers = 3;
  CompilePool compiler(parallel);
  EXPECT_EQ(compiler.identity(), NvrtcCompiler(options()).identity());
  std::vector<Source> sources;
  for (int i = 0; i < 8; ++i) sources.push_back(good("entry_" + std::to_string(i)));
  sources[5].text = "no kernel at all";
  const std::vector<Compiled> results = compiler.compile(sources);
  ASSERT_EQ(results.size(), sources.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (i == 5) {
      EXPECT_TRUE(std::holds_alternative<Failure>(results[i]));
    } else {
      const Binary& binary = std::get<Binary>(results[i]);
      EXPECT_THAT(binary.log, HasSubstr("'entry_" + std::to_string(i) + "'"));
      EXPECT_GT(std::filesystem::file_size(binary.path), 1000u);
      EXPECT_GT(binary.resources.registers.value_or(0), 0);
      EXPECT_EQ(binary.resources.shared_bytes, 1024);
    }
  }
}

TEST_F(Nvrtc, SaysWhatIsWrongInItsFirstLine) {
  NvrtcCompiler compiler(options());
  const std::vector<Source> sources = {
      source_of("broken", "extern \"C\" __global__ void broken(float* c) {\n  c[0] = missing_name;\n}\n")};
  const std::vector<Compiled> results = compiler.compile(sources);
  const Failure& failure = std::get<Failure>(results[0]);
  EXPECT_EQ(failure.kind, FailureKind::kCompile);
  EXPECT_THAT(failure.text.substr(0, failure.text.find('\n')), HasSubstr("broken.cu(2): error"));
  EXPECT_THAT(failure.text.substr(0, failure.text.find('\n')), HasSubstr("missing_name"));
}

TEST_F(Nvrtc, RejectsASpillingKernelWithItsResources) {
  NvrtcCompiler compiler(options());
  const std::vector<Source> sources = {spilling()};
  const std::vector<Compiled> results = compiler.compile(sources);
  const Failure& failure = std::get<Failure>(results[0]);
  EXPECT_EQ(failure.kind, FailureKind::kRejected);
  EXPECT_GT(failure.resources.spill_bytes.value_or(0), 0);
  EXPECT_EQ(failure.resources.registers, 32);
}

TEST_F(Nvrtc, ToleratesSpillsUpToTheRule) {
  WorkerCompilerOptions tolerant = options();
  tolerant.reject.max_spill_bytes = 1 << 20;
  NvrtcCompiler compiler(tolerant);
  const std::vector<Source> sources = {spilling()};
  EXPECT_TRUE(std::holds_alternative<Binary>(compiler.compile(sources)[0]));
}

TEST_F(Nvrtc, StopsACompilationThatTakesTooLong) {
  WorkerCompilerOptions hurried = options();
  hurried.time_limit_s = 1e-6;
  NvrtcCompiler compiler(hurried);
  const std::vector<Source> sources = {spilling()};
  const std::vector<Compiled> results = compiler.compile(sources);
  const Failure* failure = std::get_if<Failure>(&results[0]);
  if (!failure || failure->kind != FailureKind::kCompileTimeout) {
    GTEST_SKIP() << compiler.identity() << " has no flow callback";
  }
  EXPECT_THAT(failure->text, HasSubstr("its limit is"));
}

TEST_F(Nvrtc, NamesTheArchitecturesThatItKnows) {
  WorkerCompilerOptions old = options();
  old.arch = "sm_20";
  try {
    NvrtcCompiler compiler(old);
    FAIL() << "sm_20 was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_THAT(error.what(), HasSubstr("sm_80"));
  }
}

TEST_F(Nvrtc, IdentifiesItselfByVersionAndOptions) {
  const NvrtcCompiler compiler(options());
  EXPECT_THAT(compiler.identity(),
              testing::MatchesRegex("NVRTC [0-9]+\\.[0-9]+ --gpu-architecture=sm_80 .*"));
}

TEST(WorkerCompilerOptions, RefuseWhatIsNoArchitecture) {
  WorkerCompilerOptions options;
  options.arch = "avx512";
  EXPECT_THROW(NvrtcCompiler{options}, Error);
}

}  // namespace
}  // namespace lehr
