// Sampled schedules of every CUDA family through NVRTC and ptxas: they compile, do not spill, and fit the
// device; many for two architectures, two for each of the others, other ones in each run. Skipped where NVRTC
// is not installed. In the environment, LEHR_NVRTC_CONFIGS sets how many, LEHR_NVRTC_SEED draws those of a
// run again.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <random>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "codegen/emit.h"
#include "gemm_mma_cases.h"
#include "measure/cuda/nvrtc.h"
#include "measure/worker/compile_workers.h"
#include "target/cuda/archs.h"
#include "templates/catalog.h"
#include "templates/reference/plain_kernel.h"
#include "tests/support/sample_config.h"

namespace lehr {
namespace {

using lehr::testing::gemm_of;
using lehr::testing::mma_of;
using lehr::testing::with_output;

constexpr std::uint64_t kSeed = 42;

/// The number of that name in the environment.
std::int64_t number_of(const char* name, std::int64_t otherwise) {
  const char* const text = std::getenv(name);
  return text ? parse_int(text).value_or(otherwise) : otherwise;
}

/// Of a family per architecture; 0.2 to 0.5 s of one core each, of conv2d_winograd 1.3 s.
std::int64_t configs(const std::string& family) {
  const std::int64_t usual = family == "gemm_simt"         ? 64
                             : family.starts_with("gemm_") ? 24
                             : family == "conv2d_winograd" ? 8
                                                           : 15;
  return number_of("LEHR_NVRTC_CONFIGS", usual);
}

/// Of the architectures of which few are drawn.
std::uint64_t rotating_seed() {
  static const std::uint64_t seed =
      static_cast<std::uint64_t>(number_of("LEHR_NVRTC_SEED", std::random_device()() % 1000000));
  return seed;
}

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = {
      gemm_of(4096, 4096, 4096, 1, 0),
      gemm_of(4096, 4096, 4096, 1, 1),
      gemm_of(4096, 4096, 4096, 1, 2),
      gemm_of(2048, 2048, 2048, 1, 3),
      gemm_of(1001, 777, 333, 3, 0),
      gemm_of(1001, 777, 333, 1, 7),
      gemm_of(16, 4096, 4096, 1, 2),
      gemm_of(1, 4096, 4096, 1, 0),
      gemm_of(100, 70, 130, 3, 3),
      gemm_of(4096, 4097, 64, 1, 2),
      gemm_of(8, 4096, 4096, 1, 2),
      gemm_of(8, 4096, 1024, 1, 0),
      gemm_of(3, 1001, 777, 2, 3),
      gemm_of(4096, 4, 11008, 1, 1),
      gemm_of(5000, 6, 1000, 1, 4),
      parse_workload("gemm m=1 n=4096 k=4096 a=bf16:row b=bf16:column c=bf16:row"),
      parse_workload("gemm m=8 n=4096 k=4096 a=f16:row b=f16:column c=f32:row"),
      parse_workload("gemm m=4 n=4096 k=4096 a=bf16:row b=bf16:row c=bf16:row"),
      with_output(mma_of(DType::kBF16, 4096, 4096, 4096, 1, 2), DType::kBF16),
      mma_of(DType::kBF16, 4096, 4096, 4096, 1, 0),
      mma_of(DType::kF16, 2048, 2048, 2048, 1, 1),
      mma_of(DType::kBF16, 1001, 777, 333, 3, 0),
      with_output(mma_of(DType::kBF16, 8192, 4096, 4096, 1, 3), DType::kBF16),
      with_output(mma_of(DType::kF16, 1001, 1002, 2048, 3, 2), DType::kF16),
      with_output(mma_of(DType::kBF16, 64, 7168, 2048, 1, 2), DType::kBF16),
      with_output(mma_of(DType::kE4M3, 2048, 4096, 4096, 1, 6), DType::kBF16),
      with_output(mma_of(DType::kF16, 1001, 778, 334, 1, 7), DType::kF16),
      with_output(mma_of(DType::kBF16, 16, 4096, 4096, 1, 2), DType::kBF16),
      mma_of(DType::kBF16, 1, 4096, 4096, 1, 2),
      mma_of(DType::kBF16, 4096, 32, 4096, 1, 0),
      mma_of(DType::kF32, 4096, 4096, 4096, 1, 2, Math::kTf32),
      mma_of(DType::kF32, 1000, 900, 500, 1, 1, Math::kTf32),
      mma_of(DType::kF32, 4096, 4096, 4096, 1, 0, Math::kTf32),
      mma_of(DType::kF32, 40, 904, 500, 1, 3, Math::kTf32),
      mma_of(DType::kF32, 4096, 4096, 4096, 1, 0, Math::k3xTf32),
      mma_of(DType::kF32, 64, 500, 333, 1, 2, Math::k3xTf32),
      mma_of(DType::kS8, 4096, 4096, 4096, 1, 2),
      mma_of(DType::kS8, 1001, 777, 335, 1, 0),
      mma_of(DType::kS8, 16, 4096, 4096, 1, 2),
      with_output(mma_of(DType::kBF16, 16, 1000, 16384, 1, 2), DType::kBF16),
      mma_of(DType::kF16, 64, 64, 32768, 1, 0),
      mma_of(DType::kS8, 64, 500, 9999, 1, 2),
      mma_of(DType::kF32, 128, 128, 8192, 1, 2, Math::k3xTf32),
      mma_of(DType::kE4M3, 4096, 4096, 4096, 1, 2),
      with_output(mma_of(DType::kE4M3, 4096, 7168, 2048, 1, 2, Math::kTwoLevel), DType::kBF16),
      mma_of(DType::kE5M2, 100, 304, 4112, 1, 2, Math::kTwoLevel),
      parse_workload("gemm m=2048 n=4096 k=4096 a=e4m3:row b=e4m3:column c=bf16:row epilogue=bias+gelu_tanh "
                     "math=two_level"),
      with_output(mma_of(DType::kE5M2, 100, 300, 64, 1, 1), DType::kBF16),
      parse_workload("gemm m=2048 n=4096 k=1024 epilogue=bias+relu"),
      parse_workload("gemm m=1001 n=777 k=333 epilogue=scale_shift+residual+gelu_erf"),
      parse_workload("gemm m=4 n=4096 k=4096 a=bf16:row b=bf16:column c=bf16:row epilogue=bias+silu"),
      parse_workload("gemm m=2048 n=4096 k=4096 a=bf16:row b=bf16:column c=bf16:row epilogue=bias+gelu_tanh"),
      parse_workload(
          "gemm m=2048 n=4096 k=4096 a=f16:row b=f16:column c=f16:row epilogue=scale_shift+residual+relu"),
      parse_workload("gemm m=2048 n=8192 k=4096 a=bf16:row b=bf16:column c=bf16:row epilogue=swiglu"),
      parse_workload("gemm m=1001 n=778 k=333 epilogue=bias+geglu"),
      parse_workload("gemm m=16 n=28672 k=4096 a=bf16:row b=bf16:column c=bf16:row epilogue=swiglu"),
      parse_workload("conv2d h=224 w=224 c=3 k=64 r=7 s=7 stride=2 pad=3"),
      parse_workload("conv2d h=56 w=56 c=64 k=64 r=3 s=3 pad=1 epilogue=scale_shift+residual+relu"),
      parse_workload("conv2d n=32 h=28 w=28 c=128 k=128 r=3 s=3 pad=1 layout=nhwc x=f16 f=f16 y=f16 "
                     "epilogue=scale_shift+residual+relu"),
      parse_workload("conv2d n=8 h=56 w=56 c=144 k=144 r=3 s=3 pad=1 groups=144 layout=nhwc x=f16 f=f16 "
                     "y=f16 epilogue=bias+relu6"),
      parse_workload("conv2d h=56 w=56 c=64 k=64 r=3 s=3 pad=1"),
      parse_workload("conv2d h=56 w=56 c=64 k=128 r=1 s=1 stride=2"),
      parse_workload("conv2d h=7 w=7 c=512 k=512 r=3 s=3 pad=1"),
      parse_workload("conv2d n=32 h=28 w=28 c=128 k=128 r=3 s=3 pad=1 layout=nhwc"),
      parse_workload("conv2d n=2 h=33 w=35 c=330 k=50 r=3 s=3 pad=2x0x1x1 epilogue=bias+gelu_erf+residual"),
      parse_workload("conv2d n=8 h=56 w=56 c=128 k=128 r=3 s=3 pad=1 groups=32"),
      parse_workload(
          "conv2d n=4 h=33 w=35 c=30 k=50 r=5 s=3 stride=2x1 pad=2x0x1x1 dilation=1x2 layout=nhwc"),
      parse_workload("conv2d h=112 w=112 c=32 k=32 r=3 s=3 pad=1 groups=32"),
      parse_workload(
          "conv2d n=32 h=56 w=56 c=128 k=128 r=3 s=3 pad=1 groups=128 layout=nhwc x=f16 f=f16 y=f16"),
      parse_workload("conv2d n=4 h=57 w=55 c=144 k=144 r=5 s=5 stride=2 pad=2 groups=144 layout=nhwc"),
      parse_workload("conv2d n=8 h=14 w=14 c=512 k=512 r=3 s=3 pad=1 groups=512 x=bf16 f=bf16 y=bf16"),
      parse_workload("conv2d n=32 h=56 w=56 c=64 k=64 r=3 s=3 pad=1 layout=nhwc x=f16 f=f16 y=f16"),
      parse_workload("conv2d n=32 h=28 w=28 c=512 k=128 r=1 s=1 layout=nhwc x=bf16 f=bf16 y=bf16"),
      parse_workload("conv2d n=8 h=224 w=224 c=3 k=64 r=7 s=7 stride=2 pad=3 layout=nhwc x=f16 f=f16 y=f16"),
      parse_workload("conv2d h=14 w=14 c=250 k=512 r=3 s=3 pad=1 layout=nhwc x=bf16 f=bf16 y=f32"),
      parse_workload("conv2d h=7 w=7 c=512 k=2048 r=3 s=3 pad=1 layout=nhwc x=bf16 f=bf16 y=bf16"),
      parse_workload("conv2d n=8 h=113 w=112 c=16 k=96 r=3 s=3 stride=2 pad=1 layout=nhwc x=f16 f=f16 y=f16 "
                     "epilogue=bias+silu"),
      parse_workload("conv2d n=4 h=17 w=19 c=64 k=96 r=3 s=3 pad=1 layout=nhwc x=s8 f=s8 y=s32 accum=s32"),
      parse_workload(
          "conv2d n=4 h=32 w=32 c=64 k=96 r=3 s=3 stride=2 pad=1 layout=nhwc x=e4m3 f=e4m3 y=bf16"),
      parse_workload(
          "conv2d n=32 h=28 w=28 c=128 k=128 r=3 s=3 pad=1 layout=nhwc epilogue=bias+relu math=tf32"),
      parse_workload("conv2d n=4 h=33 w=35 c=30 k=50 r=5 s=3 stride=2x1 pad=2x0x1x1 layout=nhwc math=tf32"),
      parse_workload("conv2d h=56 w=56 c=64 k=64 r=3 s=3 pad=1 x=f16 f=f16 y=f16 epilogue=bias+relu"),
      parse_workload("conv2d n=2 h=40 w=175 c=128 k=256 r=5 s=5 stride=2 pad=1 x=f16 f=f16 y=f16"),
      parse_workload("conv2d n=8 h=28 w=28 c=256 k=256 r=3 s=3 pad=1 groups=32 x=f16 f=f16 y=f16 "
                     "epilogue=scale_shift+relu"),
      parse_workload("conv2d n=8 h=28 w=28 c=256 k=256 r=3 s=3 pad=1 groups=32 layout=nhwc x=f16 f=f16 y=f16 "
                     "epilogue=scale_shift+relu"),
      parse_workload("conv2d n=8 h=28 w=28 c=256 k=256 r=3 s=3 pad=1 groups=32 layout=nhwc"),
      parse_workload("conv2d n=2 h=33 w=35 c=30 k=50 r=5 s=3 stride=2x1 pad=2x0x1x1 math=tf32"),
      parse_workload("conv2d n=2 h=17 w=19 c=64 k=96 r=3 s=3 pad=1 x=s8 f=s8 y=s32 accum=s32"),
      parse_workload("conv2d n=8 h=224 w=224 c=3 k=32 r=3 s=3 stride=2 pad=1 x=s8 f=s8 y=s32 accum=s32"),
      parse_workload(
          "conv2d n=8 h=224 w=224 c=3 k=64 r=7 s=7 stride=2 pad=3 layout=nhwc x=e4m3 f=e4m3 y=bf16"),
      parse_workload(
          "conv2d n=128 h=35 w=35 c=481 k=37 r=5 s=5 stride=3 pad=2 dilation=4 x=e4m3 f=e4m3 y=bf16"),
      parse_workload("conv2d n=8 h=14 w=14 c=256 k=256 r=3 s=3 pad=1 layout=nhwc math=3xtf32"),
      parse_workload("conv2d n=2 h=33 w=33 c=512 k=256 r=3 s=3 pad=36 dilation=36 epilogue=bias+relu"),
      parse_workload("conv2d n=64 h=2 w=2 c=90 k=50 r=5 s=5 pad=2 layout=nhwc"),
      parse_workload("conv2d n=64 h=2 w=2 c=250 k=512 r=5 s=5 pad=2 layout=nhwc x=bf16 f=bf16 y=bf16"),
      parse_workload("conv2d n=8 h=1 w=40 c=99 k=256 r=3 s=3 pad=1 x=f16 f=f16 y=f16"),
      parse_workload("conv2d n=64 h=3 w=2 c=512 k=512 r=5 s=5 pad=4x2 x=s8 f=s8 y=s32 accum=s32"),
      parse_workload("conv2d n=4 h=32 w=32 c=64 k=96 r=3 s=3 pad=1 layout=nhwc x=e4m3 f=e4m3 y=bf16 "
                     "math=two_level")};
  return all;
}

bool serves_on(const Template& family, const Workload& workload, const Limits& limits) {
  return !why_unserved(family, workload, limits);
}

std::vector<std::string> cuda_families() {
  const Limits limits = cuda_limits("sm_90a");
  std::vector<std::string> names;
  for (const Template& family : catalog()) {
    const bool serves = std::any_of(workloads().begin(), workloads().end(),
                                    [&](const Workload& w) { return serves_on(family, w, limits); });
    if (serves) names.push_back(family.name);
  }
  return names;
}

/// Of a thread of the first warpgroup and of each other one, what setmaxnreg gives them: 0 where it does not.
std::pair<std::int64_t, std::int64_t> registers_dealt_out(const std::string& text) {
  const auto number = [&](std::string_view call) -> std::int64_t {
    const std::size_t at = text.find(call, text.find("extern \"C\""));
    return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + call.size());
  };
  return {number("lehr_setmaxnreg_dec<"), number("lehr_setmaxnreg_inc<")};
}

std::vector<Workload> served_on(const Template& family, const Limits& limits) {
  std::vector<Workload> served;
  for (const Workload& workload : workloads())
    if (serves_on(family, workload, limits)) served.push_back(workload);
  return served;
}

struct Candidate {
  Source source;
  std::string name;
};
Candidate candidate(const Template& family, const Workload& workload, const Config& config,
                    const Limits& limits) {
  return {emit(testing::lowered(family, workload, config, limits)),
          limits.arch + " " + to_text(workload) + " " + to_text(config)};
}

/// Kernels that deal registers out among their warpgroups. At most `rejected` of the candidates may be turned
/// away, as they are in a tuning: for a register or two too few, at the cost of a compilation.
int expect_they_compile_and_fit(const std::vector<Candidate>& candidates, const Limits& limits,
                                int rejected = 0) {
  CompileWorkersOptions options;
  options.worker.program = LEHR_MEASURE_WORKER;
  options.target = Target::kCuda;
  options.compiler.arch = limits.arch;
  CompileWorkers compiler(options);
  std::vector<Source> sources;
  for (const Candidate& each : candidates) sources.push_back(each.source);
  const std::vector<Compiled> results = compiler.compile(sources);
  int dealing = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    SCOPED_TRACE(candidates[i].name);
    const Binary* binary = std::get_if<Binary>(&results[i]);
    if (const Failure* failure = std::get_if<Failure>(&results[i]);
        failure && failure->kind == FailureKind::kRejected && rejected-- > 0)
      continue;
    EXPECT_TRUE(binary) << std::get<Failure>(results[i]).text;  // spills and advisories are rejections
    if (!binary) continue;
    const Resources& used = binary->resources;
    const ir::Launch& launch = sources[i].launch;
    const std::int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
    EXPECT_EQ(used.spill_bytes, 0);
    EXPECT_EQ(used.stack_bytes, 0);  // every register array was split into registers
    EXPECT_EQ(used.shared_bytes, launch.shared_bytes);
    EXPECT_LE(*used.shared_bytes, limits.shared_bytes_per_block);
    EXPECT_TRUE(used.registers);
    if (!used.registers) continue;
    EXPECT_LE((*used.registers + 7) / 8 * 8 * threads, limits.registers_per_core);
    // Who asks for more registers than the block was launched with waits for ever.
    const auto [first, others] = registers_dealt_out(sources[i].text);
    EXPECT_LE(128 * first + (threads - 128) * others, *used.registers * threads);
    dealing += others > 0 ? 1 : 0;
  }
  return dealing;
}

class CudaNvrtc : public ::testing::TestWithParam<std::tuple<std::string, const char*>> {};

TEST_P(CudaNvrtc, SampledSchedulesCompileWithoutSpillsAndFitTheDevice) {
  if (const auto reason = why_no_nvrtc()) GTEST_SKIP() << *reason;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  const Template& family = template_named(std::get<0>(GetParam()));
  const Limits limits = cuda_limits(std::get<1>(GetParam()));
  const std::vector<Workload> served = served_on(family, limits);
  if (served.empty()) GTEST_SKIP() << family.name << " serves nothing on " << limits.arch;
  Rng rng(kSeed);
  std::vector<Candidate> candidates;
  for (const Workload& workload : served)
    candidates.push_back(candidate(family, workload, testing::default_of(family, workload, limits), limits));
  for (std::size_t i = 0; static_cast<std::int64_t>(candidates.size()) < configs(family.name); ++i) {
    const Workload& workload = served[i % served.size()];
    const Config config = testing::sample_config(family.space(workload, limits), rng).value();
    candidates.push_back(candidate(family, workload, config, limits));
  }
  const int dealing = expect_they_compile_and_fit(candidates, limits);
  EXPECT_EQ(dealing > 0, family.name.find("wgmma") != std::string::npos);
}

/// Those that have no test of their own above.
std::vector<std::string> other_archs() {
  std::vector<std::string> archs = known_cuda_archs();
  std::erase(archs, "sm_80");
  std::erase(archs, "sm_90a");
  return archs;
}

class EveryArchitecture : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryArchitecture, SamplesOfEveryFamilyCompileAndFitTheDevice) {
  if (const auto reason = why_no_nvrtc()) GTEST_SKIP() << *reason;
  const std::int64_t of_each = number_of("LEHR_NVRTC_CONFIGS", 2);
  SCOPED_TRACE(::testing::Message() << "LEHR_NVRTC_SEED=" << rotating_seed());
  const Limits limits = cuda_limits(GetParam());
  Rng rng = Rng(rotating_seed()).fork(GetParam());
  std::vector<Candidate> candidates;
  std::size_t families = 0;
  for (const std::string& name : cuda_families()) {
    const Template& family = template_named(name);
    const std::vector<Workload> served = served_on(family, limits);
    EXPECT_EQ(served.empty(), name.find("wgmma") != std::string::npos) << name;
    if (served.empty()) continue;
    ++families;
    for (std::int64_t i = 0; i < of_each; ++i) {
      const Workload& workload = served[rng.below(served.size())];
      const Config config = i == 0 ? testing::default_of(family, workload, limits)
                                   : testing::sample_config(family.space(workload, limits), rng).value();
      candidates.push_back(candidate(family, workload, config, limits));
    }
  }
  std::cout << GetParam() << ": " << candidates.size() << " kernels of " << families
            << " families, LEHR_NVRTC_SEED=" << rotating_seed() << "\n";
  EXPECT_EQ(expect_they_compile_and_fit(candidates, limits, static_cast<int>(candidates.size() / 14)), 0);
}

class PlainKernels : public ::testing::TestWithParam<std::string> {};

TEST_P(PlainKernels, CompileAndFitTheDevice) {
  if (const auto reason = why_no_nvrtc()) GTEST_SKIP() << *reason;
  const std::int64_t count = number_of("LEHR_NVRTC_CONFIGS", 3);
  SCOPED_TRACE(::testing::Message() << "LEHR_NVRTC_SEED=" << rotating_seed());
  const Limits limits = cuda_limits(GetParam());
  Rng rng = Rng(rotating_seed()).fork(GetParam() + " plain");
  std::vector<Candidate> candidates;
  while (static_cast<std::int64_t>(candidates.size()) < count) {
    const Workload& workload = workloads()[rng.below(workloads().size())];
    if (const std::optional<PlainKernel> plain = plain_kernel(workload, limits))
      candidates.push_back({emit(plain->kernel), limits.arch + " " + to_text(workload)});
  }
  expect_they_compile_and_fit(candidates, limits);
}

INSTANTIATE_TEST_SUITE_P(Archs, EveryArchitecture, ::testing::ValuesIn(other_archs()),
                         [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(Archs, PlainKernels, ::testing::ValuesIn(known_cuda_archs()),
                         [](const auto& info) { return info.param; });

INSTANTIATE_TEST_SUITE_P(Families, CudaNvrtc,
                         ::testing::Combine(::testing::ValuesIn(cuda_families()),
                                            ::testing::Values("sm_80", "sm_90a")),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_" + std::get<1>(info.param);
                         });

}  // namespace
}  // namespace lehr
