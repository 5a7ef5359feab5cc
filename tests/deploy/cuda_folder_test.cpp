// From kernels for GPUs that nobody here has to a folder, with NVIDIA's compilers, and what its library
// launches on a driver that is a stand-in.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "codegen/emit.h"
#include "deploy/export_folder.h"
#include "deploy/linked.h"
#include "measure/cuda/cuda_driver.h"
#include "measure/cuda/cuda_folders.h"
#include "measure/cuda/nvrtc.h"
#include "measure/system/temp_dir.h"
#include "runtime/lehr_bundle.h"
#include "templates/catalog.h"
#include "tests/support/forged_cards.h"
#include "tune/stored_kernel.h"

namespace lehr {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> wheels() {
  const std::string folder = std::string(LEHR_NVIDIA_WHEELS) + "/bin";
  return cuda_library_folders(std::span(&folder, 1), "", "/nowhere");
}

const test::Card& card(std::string_view arch) {
  return *std::ranges::find_if(test::kCards, [&](const test::Card& each) { return each.arch == arch; });
}

/// A kernel of that family as if it had been measured on that card with that compiler.
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
  static std::map<std::string, std::string> files(const std::vector<RebuiltKernel>& kernels,
                                                  bool embed = false) {
    FolderCompilers compilers({{}, wheels()});
    for (const RebuiltKernel& kernel : kernels) EXPECT_EQ(compilers.why_not(kernel), std::nullopt);
    FolderOptions options;
    options.tool_version = "test";
    options.embed = embed;
    std::map<std::string, std::string> found;
    for (FolderFile& file : export_folder(kernels, {}, compilers, options))
      found[file.path] = std::move(file.bytes);
    return found;
  }
  static const std::map<std::string, std::string>& exported();
};

// Both kernels: compiling them takes some seconds.
const std::map<std::string, std::string>& CudaFolder::exported() {
  static const std::map<std::string, std::string> kFiles = files(kernels());
  return kFiles;
}

// Whoever takes the sources has the compiler, perhaps.
TEST(CudaFolderOfSources, SaysHowToLaunchWhatCannotBeCompiledHere) {
  const std::vector<RebuiltKernel> kernels = {
      tuned("gemm m=256 n=512 k=128 a=f16 b=f16 c=f16", "sm_90a", "gemm_wgmma", "NVRTC 99.9")};
  const Source& measured = kernels[0].source;
  FolderCompilers compilers({});
  FolderOptions options;
  EXPECT_FALSE(can_hold(kernels[0], compilers, options));
  options.embed = true;
  ASSERT_TRUE(can_hold(kernels[0], compilers, options));
  std::map<std::string, std::string> files;
  for (FolderFile& file : export_folder(kernels, {}, compilers, options))
    files[file.path] = std::move(file.bytes);
  const std::string name = deployed_name(measured, "NVRTC 99.9");
  EXPECT_THAT(files.at("sources/" + name + ".cu"), HasSubstr(measured.text));
  const auto launch = nlohmann::json::parse(files.at("sources/" + name + ".json"));
  EXPECT_EQ(launch["compiler"], "NVRTC 99.9");
  EXPECT_EQ(launch["source"]["file"], "sources/" + name + ".cu");
  EXPECT_EQ(launch["source"]["entry"], name);
  EXPECT_EQ(launch["source"]["grid"], nlohmann::json(measured.launch.grid));
  EXPECT_EQ(launch["source"]["params"].size(), measured.params.size());
  EXPECT_TRUE(launch["source"]["params"][0].contains("tensor_map"));
  const auto manifest = nlohmann::json::parse(files.at("manifest.json"));
  EXPECT_TRUE(manifest["kernels"].empty());
  EXPECT_TRUE(manifest["files"].contains("sources/" + name + ".json")) << "to be replaced with the folder";
}

TEST_F(CudaFolder, HoldsMachineCodeAndPtxForNewerOnes) {
  const std::vector<RebuiltKernel> all = kernels();
  const std::map<std::string, std::string>& first = exported();
  const std::string wgmma = deployed_name(all[0].source, identity("sm_90a")),
                    simt = deployed_name(all[1].source, identity("sm_86"));
  for (const std::string& name : {wgmma, simt}) {
    ASSERT_TRUE(first.contains("kernels/" + name + ".cubin")) << name;
    EXPECT_THAT(first.at("kernels/" + name + ".cubin"), StartsWith("\177ELF"));
    EXPECT_THAT(first.at("kernels/" + name + ".cubin"), HasSubstr(name));
    EXPECT_THAT(first.at("sources/" + name + ".json"), HasSubstr("\"entry\": \"" + name + '"'));
    EXPECT_THAT(first.at("sources/" + name + ".cu"),
                HasSubstr("#define " + std::string(name == simt ? "gemm_simt " : "gemm_wgmma ") + name));
  }
  EXPECT_FALSE(first.contains("kernels/" + wgmma + ".ptx"));
  EXPECT_THAT(first.at("kernels/" + simt + ".ptx"), HasSubstr(".entry " + simt));
  EXPECT_THAT(first.at("CMakeLists.txt"), Not(HasSubstr(".cu")));
  for (const auto& [path, bytes] : files({all[1]}))
    if (path.starts_with("kernels/")) {
      EXPECT_EQ(bytes, first.at(path)) << "the same bytes";
    }
  // As a part of a program they are in its table.
  const std::map<std::string, std::string> sources = files({all[1]}, true);
  EXPECT_FALSE(sources.contains("kernels/" + simt + ".cubin"));
  EXPECT_THAT(sources.at("sources/lehr_linked.cpp"),
              HasSubstr(fmt::format("{{\"kernels/{}.cubin\", file_", simt)));
}

TEST_F(CudaFolder, LaunchesWhatWasMeasured) {
  const std::vector<RebuiltKernel> all = kernels();
  const TempDir directory;
  const std::string folder = directory.path() + "/bundle";
  std::vector<FolderFile> written;
  for (const auto& [path, bytes] : exported()) written.push_back({path, bytes});
  write_folder(folder, written);

  void* const fake = dlopen(LEHR_FAKE_LIBCUDA, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(fake, nullptr) << dlerror();
  const auto told = [&](const char* name) {
    return reinterpret_cast<const char* (*)()>(dlsym(fake, name))();
  };
  const auto set = reinterpret_cast<void (*)(int, int)>(dlsym(fake, "fake_cuda_set_attribute"));
  set(16, card("sm_90a").cores);
  set(1000, 1024);  // threads of a block
  void* stream = nullptr;
  reinterpret_cast<int (*)(void**, unsigned)>(dlsym(fake, "cuStreamCreate"))(&stream, 0);

  lehr_error error = {sizeof error, ""};
  lehr_bundle bundle = 0;
  ASSERT_EQ(lehr_open(folder.c_str(), nullptr, &bundle, &error), LEHR_OK) << error.text;
  std::string why_not;
  const std::unique_ptr<CudaDriver> driver = CudaDriver::open(LEHR_FAKE_CUDA_DRIVER, why_not);
  ASSERT_NE(driver, nullptr) << why_not;
  void* const measured = dlopen(LEHR_FAKE_CUDA_DRIVER, RTLD_NOW | RTLD_LOCAL);
  for (const RebuiltKernel& rebuilt : all) {
    lehr_kernel kernel = 0;
    ASSERT_EQ(lehr_find(bundle, to_text(rebuilt.workload).c_str(), nullptr, &kernel, &error), LEHR_OK)
        << error.text;
    lehr_kernel_info info = {};
    info.size = sizeof info;
    ASSERT_EQ(lehr_info(kernel, &info, nullptr), LEHR_OK);
    const bool at_home = rebuilt.winner.record.arch == "sm_90a";
    EXPECT_EQ(info.answer, static_cast<std::uint32_t>(at_home ? LEHR_EXACT : LEHR_OTHER_DEVICE));
    EXPECT_EQ(info.from_ptx, at_home ? 0u : 1u);
    std::vector<std::vector<unsigned char>> memory;
    std::vector<void*> params;
    for (std::uint32_t i = 0; i < info.params; ++i) {
      memory.emplace_back(std::size_t{64} << 20);
      params.push_back(memory.back().data() + 256 -
                       reinterpret_cast<std::uintptr_t>(memory.back().data()) % 256);
    }
    const lehr_launch_call call = {sizeof call, info.params, params.data(), stream, nullptr, 0};
    ASSERT_EQ(lehr_launch(kernel, &call, &error), LEHR_OK) << error.text;
    const ir::Launch& launch = rebuilt.source.launch;
    EXPECT_EQ(told("fake_cuda_launch"),
              fmt::format("{} grid {} block {} shared {}{}", info.name, fmt::join(launch.grid, " "),
                          fmt::join(launch.block, " "), launch.shared_bytes,
                          launch.programmatic ? ", programmatic" : ""));
    for (std::size_t i = 0; i < rebuilt.source.params.size(); ++i) {
      const SourceParam& param = rebuilt.source.params[i];
      if (!param.map) continue;
      // The last one is what the stand-in still knows.
      CudaTensorMap made;
      ASSERT_TRUE(
          encode_tensor_map(*driver, *param.map, param.type, reinterpret_cast<CudaAddress>(params[i]), made)
              .ok());
      why_not = reinterpret_cast<const char* (*)()>(dlsym(measured, "fake_cuda_tensor_map"))();
    }
    if (at_home) {
      EXPECT_NE(why_not, "");
      EXPECT_EQ(told("fake_cuda_tensor_map"), why_not);
    }
  }
  EXPECT_EQ(lehr_close(bundle, nullptr), LEHR_OK);
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
