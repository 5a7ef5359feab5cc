// NVRTC as a Compiler. Skipped where NVRTC is not installed.
#include "measure/cuda/nvrtc.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "measure/cuda/check_kernels.h"
#include "measure/cuda/cuda_folders.h"
#include "measure/cuda/nvrtc_library.h"
#include "measure/system/temp_dir.h"
#include "measure/worker/compile_workers.h"
#include "target/cuda/archs.h"

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

// This test comes first: a library that this process has loaded once is found again by its name.
TEST(NvrtcChoice, SaysWhatToInstallWhereNoneFits) {
  const std::vector<std::string> only_13 = {LEHR_FAKE_NVRTC};
  if (choose_nvrtc({}, CudaVersion{12, 4}).library) GTEST_SKIP() << "an NVRTC 12 is installed here";
  const NvrtcChoice choice = choose_nvrtc(only_13, CudaVersion{12, 4});
  EXPECT_FALSE(choice.library);
  EXPECT_THAT(choice.reason,
              testing::StartsWith("the driver serves CUDA 12.4 and loads no code of NVRTC 13.0 ("));
  EXPECT_THAT(choice.reason, HasSubstr("pip: nvidia-cuda-nvrtc-cu12"));
  EXPECT_TRUE(choose_nvrtc(only_13, CudaVersion{13, 0}).library);
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
  CompileWorkersOptions parallel;
  parallel.worker.program = LEHR_MEASURE_WORKER;
  parallel.target = Target::kCuda;
  parallel.compiler = options();
  parallel.workers = 3;
  CompileWorkers compiler(parallel);
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

// Compiles the kernels for every type that an input or an output may have.
TEST_F(Nvrtc, CompilesTheKernelsOfTheDevicesOwnCheck) {
  for (const char* arch : {"sm_75", "sm_90a"}) {
    WorkerCompilerOptions of_arch = options();
    of_arch.arch = arch;
    NvrtcCompiler compiler(of_arch);
    Problem problem;
    for (const DType type : all_dtypes())
      for (const Role role : {Role::kIn, Role::kOut})
        for (const DType as : {DType::kF32, DType::kF64, DType::kS64})
          if ((type == DType::kS64) == (as == DType::kS64) &&
              (role == Role::kIn || arch == std::string("sm_90a") || size_of(type) > 1 || is_integer(type)))
            problem.arguments.push_back(
                {.name = "", .type = type, .elements = 1, .role = role, .expected_as = as});
    const std::vector<Source> sources = {check_kernels(problem)};
    const Compiled compiled = compiler.compile(sources)[0];
    ASSERT_TRUE(std::holds_alternative<Binary>(compiled)) << std::get<Failure>(compiled).text;
  }
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

/// Returns the folders into which scripts/test installs an NVRTC of CUDA 12 and one of CUDA 13.
std::vector<std::string> wheels() {
  const std::string folder = std::string(LEHR_NVIDIA_WHEELS) + "/bin";
  return cuda_library_folders(std::span(&folder, 1), "", "/nowhere");
}

class NvrtcOfADriver : public testing::Test {
 protected:
  void SetUp() override {
    if (wheels().size() >= 2) return;
    const std::string missing =
        fmt::format("{} has no NVRTC of 12 and of 13: scripts/test installs them", LEHR_NVIDIA_WHEELS);
    if (std::getenv("LEHR_CI") != nullptr) FAIL() << missing;
    GTEST_SKIP() << missing;
  }

  /// Returns a compiler in a worker whose driver serves that version: 12040 is 12.4.
  CompileWorkers pool(const std::string& driver) {
    std::filesystem::create_directories(directory_.path() + "/" + driver);
    std::filesystem::create_symlink(LEHR_FAKE_CUDA_DRIVER,
                                    directory_.path() + "/" + driver + "/libcuda.so.1");
    CompileWorkersOptions pool;
    pool.worker.program = LEHR_MEASURE_WORKER;
    pool.worker.environment = {"LD_LIBRARY_PATH=" + directory_.path() + "/" + driver,
                               "LEHR_FAKE_CUDA_VERSION=" + driver};
    pool.target = Target::kCuda;
    pool.compiler.arch = "sm_90a";
    pool.compiler.library_directories = wheels();
    return CompileWorkers(pool);
  }

  /// Returns the ABI version, which is byte 8 of an ELF file.
  static int abi_of(CompileWorkers& compiler) {
    const std::vector<Source> sources = {good("reversed")};
    const std::vector<Compiled> results = compiler.compile(sources);
    if (!std::holds_alternative<Binary>(results[0])) return -1;
    std::ifstream file(std::get<Binary>(results[0]).path, std::ios::binary);
    std::string head(16, ' ');
    file.read(head.data(), 16);
    return head[8];
  }

  TempDir directory_;
};

TEST_F(NvrtcOfADriver, IsTheNewestThatTheDriverServes) {
  CompileWorkers old = pool("12040");
  EXPECT_THAT(old.identity(), testing::StartsWith("NVRTC 12."));
  EXPECT_EQ(abi_of(old), 7);
  CompileWorkers current = pool("13000");
  EXPECT_THAT(current.identity(), testing::StartsWith("NVRTC 13."));
  EXPECT_EQ(abi_of(current), 8) << "what a driver of 12.4 does not load";
  EXPECT_THAT(pool("14020").identity(), testing::StartsWith("NVRTC 13."));
}

TEST_F(NvrtcOfADriver, WithoutADriverItIsTheNewest) {
  EXPECT_THAT(choose_nvrtc(wheels(), std::nullopt).library.path, HasSubstr("libnvrtc.so.13"));
  EXPECT_THAT(choose_nvrtc(wheels(), CudaVersion{12, 9}).library.path, HasSubstr("libnvrtc.so.12"));
  const std::vector<NvrtcLibrary> all = installed_nvrtcs(wheels());
  ASSERT_GE(all.size(), 2U);
  EXPECT_EQ(all[0].version.major, 13);
  EXPECT_EQ(all[1].version.major, 12);
}

TEST_F(NvrtcOfADriver, EveryArchitectureIsKnownToTheNewest) {
  for (const std::string& arch : known_cuda_archs()) {
    WorkerCompilerOptions options;
    options.arch = arch;
    options.library_directories = wheels();
    NvrtcCompiler compiler(options);
    const std::vector<Source> sources = {good("reversed")};
    const std::vector<Compiled> results = compiler.compile(sources);
    EXPECT_TRUE(std::holds_alternative<Binary>(results[0]))
        << arch << ": " << std::get<Failure>(results[0]).text;
  }
}

TEST_F(NvrtcOfADriver, SaysWhichArchitecturesAnOldOneKnows) {
  CompileWorkersOptions options;
  try {
    std::filesystem::create_symlink(LEHR_FAKE_CUDA_DRIVER, directory_.path() + "/libcuda.so.1");
    options.worker.program = LEHR_MEASURE_WORKER;
    options.worker.environment = {"LD_LIBRARY_PATH=" + directory_.path(), "LEHR_FAKE_CUDA_VERSION=12090"};
    options.target = Target::kCuda;
    options.compiler.arch = "sm_110";
    options.compiler.library_directories = wheels();
    CompileWorkers(options).identity();
    FAIL() << "NVRTC 12 knows no sm_110";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_THAT(error.what(),
                testing::ContainsRegex("NVRTC 12.*cannot compile for sm_110; it knows sm_.*sm_121"));
  }
}

TEST(InstalledDriver, IsAskedForItsVersionWithoutAGpu) {
  EXPECT_EQ(installed_driver_version(LEHR_FAKE_CUDA_DRIVER), (CudaVersion{13, 0}));
  EXPECT_EQ(installed_driver_version("libno_such_driver.so.1"), std::nullopt);
}

TEST(WorkerCompilerOptions, RefuseWhatIsNoArchitecture) {
  WorkerCompilerOptions options;
  options.arch = "avx512";
  EXPECT_THROW(NvrtcCompiler{options}, Error);
}

}  // namespace
}  // namespace lehr
