// gemm_simt's sampled schedules through NVRTC and ptxas: they compile, do not spill, and fit the device.
// Skipped where NVRTC is not installed.
#include <gtest/gtest.h>

#include "codegen/emit.h"
#include "gemm_simt_cases.h"
#include "measure/nvrtc.h"
#include "templates/gemm_simt.h"

namespace lehr {
namespace {

using lehr::testing::gemm_of;

constexpr std::uint64_t kSeed = 42;
/// 0.2 to 0.5 s of one core each.
constexpr int kConfigsPerArch = 200;

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = {gemm_of(4096, 4096, 4096, 1, 0), gemm_of(4096, 4096, 4096, 1, 1),
                                            gemm_of(4096, 4096, 4096, 1, 2), gemm_of(2048, 2048, 2048, 1, 3),
                                            gemm_of(1001, 777, 333, 3, 0),   gemm_of(1001, 777, 333, 1, 7),
                                            gemm_of(16, 4096, 4096, 1, 2),   gemm_of(1, 4096, 4096, 1, 0),
                                            gemm_of(100, 70, 130, 3, 3),     gemm_of(4096, 4097, 64, 1, 2)};
  return all;
}

class GemmSimtNvrtc : public ::testing::TestWithParam<const char*> {};

TEST_P(GemmSimtNvrtc, SampledSchedulesCompileWithoutSpillsAndFitTheDevice) {
  if (const auto reason = why_no_nvrtc()) GTEST_SKIP() << *reason;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  const Template gemm_simt = gemm_simt_template();
  const Limits limits = cuda_limits(GetParam());
  NvrtcOptions options;
  options.arch = GetParam();
  NvrtcCompiler compiler(options);
  Rng rng(kSeed);
  std::vector<Source> sources;
  std::vector<std::string> names;
  const auto add = [&](const Workload& workload, const Config& config) {
    sources.push_back(emit(gemm_simt.lower(workload, config, limits)));
    names.push_back(to_text(workload) + " " + to_text(config));
  };
  for (const Workload& workload : workloads()) {
    add(workload, gemm_simt.default_config(workload, limits));
    const FamilySpace space = gemm_simt.space(workload, limits);
    for (int i = 1; i < kConfigsPerArch / static_cast<int>(workloads().size()); ++i)
      add(workload, space.sample(rng).value());
  }
  ASSERT_EQ(sources.size(), static_cast<std::size_t>(kConfigsPerArch));
  const std::vector<Compiled> results = compiler.compile(sources);
  for (std::size_t i = 0; i < results.size(); ++i) {
    SCOPED_TRACE(names[i]);
    const Binary* binary = std::get_if<Binary>(&results[i]);
    ASSERT_TRUE(binary) << std::get<Failure>(results[i]).text;  // spills and advisories are rejections
    const Resources& used = binary->resources;
    const ir::Launch& launch = sources[i].launch;
    const std::int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
    EXPECT_EQ(used.spill_bytes, 0);
    EXPECT_EQ(used.stack_bytes, 0);  // every register array was split into registers
    EXPECT_EQ(used.shared_bytes, launch.shared_bytes);
    EXPECT_LE(*used.shared_bytes, limits.shared_bytes_per_block);
    ASSERT_TRUE(used.registers);
    EXPECT_LE((*used.registers + 7) / 8 * 8 * threads, limits.registers_per_core);
  }
}

INSTANTIATE_TEST_SUITE_P(Archs, GemmSimtNvrtc, ::testing::Values("sm_80", "sm_90a"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace lehr
