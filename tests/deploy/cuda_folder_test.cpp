// Tests of libraries with kernels for GPUs that are not here, made with NVIDIA's compilers, and of what they
// launch on a driver that is a stand-in.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "codegen/emit.h"
#include "deploy/library.h"
#include "measure/cuda/cuda_driver.h"
#include "measure/cuda/cuda_folders.h"
#include "measure/cuda/nvrtc.h"
#include "measure/system/temp_dir.h"
#include "templates/catalog.h"
#include "tests/deploy/exported.h"
#include "tests/support/forged_cards.h"
#include "tune/stored_kernel.h"

namespace lehr {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> wheels() {
  const std::string folder = std::string(LEHR_NVIDIA_WHEELS) + "/bin";
  return cuda_library_folders(std::span(&folder, 1), "", "/nowhere");
}

const test::Card& card(std::string_view arch) {
  return *std::ranges::find_if(test::kCards, [&](const test::Card& each) { return each.arch == arch; });
}

/// Returns a kernel of that family as if it had been measured on that card with that compiler.
RebuiltKernel tuned(const char* text, std::string_view arch, std::string_view family,
                    const std::string& compiler) {
  const Workload workload = parse_workload(text);
  Device device = test::forged(card(arch));
  device.compiler = compiler;
  Winner winner;
  for (const Config& config : families_for(catalog(), workload, device.limits).defaults)
    if (config.family == family) winner.record.config = config;
  EXPECT_EQ(winner.record.config.family, family);
  winner.record.workload = to_text(workload);
  winner.record.target = "cuda";
  winner.record.arch = device.limits.arch;
  Timing timing;
  timing.time_us = winner.verdict.best.us = 10;
  winner.record.outcome = timing;
  winner.device = stored_device(device);
  ir::Kernel kernel = lower(workload, winner.record.config, device.limits);
  Source source = emit(kernel);
  return {winner, workload, std::move(kernel), std::move(source)};
}

class CudaFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    if (wheels().size() >= 2) return;
    const std::string missing = fmt::format("{} has no NVRTC: scripts/test installs it", LEHR_NVIDIA_WHEELS);
    if (std::getenv("LEHR_CI") != nullptr) FAIL() << missing;
    GTEST_SKIP() << missing;
  }

  static std::string identity(std::string_view arch) {
    WorkerCompilerOptions options;
    options.arch = arch;
    options.library_directories = wheels();
    return NvrtcCompiler(options).identity();
  }
  static std::vector<RebuiltKernel> kernels() {
    return {tuned("gemm m=256 n=512 k=128 a=f16 b=f16 c=f16 epilogue=bias", "sm_90a", "gemm_wgmma",
                  identity("sm_90a")),
            tuned("gemm m=64 n=96 k=40", "sm_86", "gemm_simt", identity("sm_86"))};
  }
  static std::vector<FolderFile> files(const std::vector<RebuiltKernel>& kernels) {
    FolderCompilers compilers({{}, wheels()});
    for (const RebuiltKernel& kernel : kernels) EXPECT_EQ(compilers.why_not(kernel), std::nullopt);
    return library_files(library_of(prepared(kernels, compilers), {}, {"kernels", "test"}), compilers);
  }
  /// Returns the files of both kernels, made once: compiling them takes some seconds.
  static const std::vector<FolderFile>& exported() {
    static const std::vector<FolderFile> kFiles = files(kernels());
    return kFiles;
  }
  static const std::string& file(const std::vector<FolderFile>& all, const std::string& path) {
    const auto found = std::ranges::find(all, path, &FolderFile::path);
    static const std::string kNone = "there is no such file";
    EXPECT_NE(found, all.end()) << path;
    return found == all.end() ? kNone : found->bytes;
  }
};

TEST_F(CudaFolder, HoldsMachineCodeAndPtxForNewerOnes) {
  const std::vector<RebuiltKernel> all = kernels();
  const std::vector<FolderFile>& first = exported();
  const std::string wgmma = deployed_name(all[0].source, identity("sm_90a")),
                    simt = deployed_name(all[1].source, identity("sm_86"));
  const std::string& library = file(first, "libkernels.so");
  for (const std::string& name : {wgmma, simt}) {
    EXPECT_THAT(library, HasSubstr(name));
    EXPECT_THAT(file(first, "sources/" + name + ".cu"),
                HasSubstr("#define " + std::string(name == simt ? "gemm_simt " : "gemm_wgmma ") + name));
  }
  EXPECT_THAT(library, HasSubstr(".entry " + simt));
  EXPECT_THAT(library, Not(HasSubstr(".entry " + wgmma))) << "sm_90a is for that one alone";
  EXPECT_THAT(file(first, "kernels.h"), HasSubstr("kernels_gemm_m64_n96_k40_cuda(kernels_context* context"));
  EXPECT_EQ(file(files(all), "libkernels.so"), library) << "the same bytes";
}

/// The stand-in for the driver, as a card of that many multiprocessors.
class StandIn {
 public:
  StandIn() : library_(dlopen(LEHR_FAKE_LIBCUDA, RTLD_NOW | RTLD_LOCAL)) {
    EXPECT_NE(library_, nullptr) << dlerror();
    const auto set = reinterpret_cast<void (*)(int, int)>(dlsym(library_, "fake_cuda_set_attribute"));
    set(16, card("sm_90a").cores);
    set(1000, 1024);  // threads of a block
    reinterpret_cast<int (*)(void**, unsigned)>(dlsym(library_, "cuStreamCreate"))(&stream, 0);
  }
  std::string told(const char* name) const {
    return reinterpret_cast<const char* (*)()>(dlsym(library_, name))();
  }

  void* stream = nullptr;

 private:
  void* library_;
};

/// Returns what the driver is given as the last tensor map of such a kernel when it is measured.
std::string measured_map(const RebuiltKernel& kernel) {
  std::string why_not;
  const std::unique_ptr<CudaDriver> driver = CudaDriver::open(LEHR_FAKE_CUDA_DRIVER, why_not);
  void* const library = dlopen(LEHR_FAKE_CUDA_DRIVER, RTLD_NOW | RTLD_LOCAL);
  EXPECT_TRUE(driver != nullptr && library != nullptr) << why_not;
  for (const SourceParam& param : kernel.source.params) {
    CudaTensorMap map;
    if (!param.map) continue;
    EXPECT_TRUE(encode_tensor_map(*driver, *param.map, param.type, 4096, map).ok());
  }
  return reinterpret_cast<const char* (*)()>(dlsym(library, "fake_cuda_tensor_map"))();
}

TEST_F(CudaFolder, LaunchesWhatWasMeasured) {
  const std::vector<RebuiltKernel> all = kernels();
  const StandIn stand_in;
  std::vector<std::vector<unsigned char>> memory;
  std::vector<void*> tensors;
  for (int i = 0; i < 6; ++i) {
    memory.emplace_back(std::size_t{64} << 20);
    tensors.push_back(memory.back().data() + 256 -
                      reinterpret_cast<std::uintptr_t>(memory.back().data()) % 256);
  }
  const lehr::testing::LoadedLibrary library(exported());
  kernels_context* const context = library.create({1, 1, 0, 0, nullptr, nullptr, nullptr});
  ASSERT_NE(context, nullptr);
  library.function<decltype(kernels_stream)>("stream")(context, stand_in.stream);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const kernels_function* const function = library.find(context, to_text(all[i].workload).c_str());
    ASSERT_NE(function, nullptr) << library.message(context);
    kernels_variant row = {};
    ASSERT_EQ(library.describe(context, function, 0, &row), KERNELS_OK);
    const bool at_home = all[i].winner.record.arch == "sm_90a";
    EXPECT_EQ(row.other_device, at_home ? 0u : 1u);
    EXPECT_EQ(row.from_ptx, at_home ? 0u : 1u);
    ASSERT_EQ(library.call(context, function, tensors.data(), 0), KERNELS_OK) << library.message(context);
    const ir::Launch& launch = all[i].source.launch;
    EXPECT_EQ(stand_in.told("fake_cuda_launch"),
              fmt::format("{} grid {} block {} shared {}{}", row.kernel, fmt::join(launch.grid, " "),
                          fmt::join(launch.block, " "), launch.shared_bytes,
                          launch.programmatic ? ", programmatic" : ""));
    if (at_home) {
      EXPECT_EQ(stand_in.told("fake_cuda_tensor_map"), measured_map(all[i]));
    }
  }
  library.destroy(context);
}

// The example is built and run as its first lines say, on the stand-in, which knows a kernel by its name.
TEST(CudaLibrary, IsTakenIntoAGraphByTheExample) {
  if (LEHR_SANITIZED) GTEST_SKIP() << "a program without a sanitizer loads none";
  FolderKernel kernel;
  kernel.rebuilt = tuned("gemm m=64 n=64 k=64", "sm_90a", "gemm_simt", "NVRTC 13.0");
  kernel.name = "gemm_64_64_64";
  kernel.cubin = "FAKE CUBIN";
  FolderCompilers compilers({});
  const TempDir directory;
  const std::string folder = directory.path() + "/kernels", build = directory.path() + "/build";
  write_folder(folder, library_files(library_of({kernel}, {}, {"kernels", "test"}), compilers));
  const auto run = [&](const std::string& command) {
    EXPECT_EQ(std::system((command + " >" + directory.path() + "/said.txt 2>&1").c_str()), 0)
        << command << ": " << read_bytes(directory.path() + "/said.txt");
  };
  run(fmt::format("cmake -G Ninja -S {}/examples/cuda_graph -B {} -Dkernels_DIR={}", LEHR_SOURCE_DIR, build,
                  folder));
  run("cmake --build " + build);
  run(fmt::format("LD_LIBRARY_PATH={} {}/cuda_graph",
                  std::filesystem::path(LEHR_FAKE_LIBCUDA).parent_path().string(), build));
  EXPECT_EQ(read_bytes(directory.path() + "/said.txt"), "C[0] is 256\n");
}

TEST_F(CudaFolder, SaysWhichCompilerIsMissing) {
  FolderCompilers compilers({{}, wheels()});
  const auto reason = compilers.why_not(
      tuned("gemm m=64 n=96 k=40", "sm_86", "gemm_simt", "NVRTC 99.1 --gpu-architecture=sm_86 --std=c++17"));
  ASSERT_TRUE(reason);
  EXPECT_THAT(*reason, HasSubstr("it was measured with NVRTC 99.1"));
  EXPECT_THAT(*reason, HasSubstr("is here: install that, or export it where it is"));
}

}  // namespace
}  // namespace lehr
