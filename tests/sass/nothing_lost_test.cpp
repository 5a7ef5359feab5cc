// Sampled kernels of all CUDA families through NVRTC and nvdisasm: nothing that has an effect is lost between
// PTX and SASS (kept.h). Odd shapes, where loops become straight code: k within one step, one tile, one row.
// LEHR_SASS_CONFIGS in the environment sets how many of a family.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "base/rng.h"
#include "codegen/emit.h"
#include "compiled.h"
#include "kept.h"
#include "target/cuda/archs.h"
#include "templates/catalog.h"
#include "tests/support/sample_config.h"

namespace lehr::sass {
namespace {

constexpr std::uint64_t kLossSeed = 50;

struct Served {
  std::string arch, workload;
};
using Problems = std::vector<Served>;

Problems all_on(const std::string& arch, const std::vector<std::string>& workloads) {
  Problems result;
  for (const std::string& workload : workloads) result.push_back({arch, workload});
  return result;
}

const std::map<std::string, Problems>& problems() {
  static const std::map<std::string, Problems> all = {
      {"gemm_wgmma",
       all_on("sm_90a", {"gemm m=200 n=264 k=144 a=e4m3:row b=e4m3:column c=bf16:row math=two_level",
                         "gemm m=512 n=512 k=64 a=bf16:row b=bf16:column c=bf16:row",
                         "gemm m=200 n=264 k=68 a=f32:row b=f32:row math=tf32",
                         "gemm m=512 n=520 k=1032 a=bf16:column b=bf16:row c=bf16:row",
                         "gemm m=200 n=264 k=512 a=e5m2:row b=e5m2:column c=bf16:row math=two_level",
                         "gemm m=200 n=264 k=144 a=s8:row b=s8:column c=s32:row accum=s32",
                         "gemm m=1 n=264 k=8 a=f16:row b=f16:column c=f32:row",
                         "gemm m=4096 n=4096 k=4096 a=e4m3:row b=e4m3:column c=bf16:row math=two_level",
                         "gemm m=64 n=512 k=64 a=bf16:row b=bf16:column c=bf16:row epilogue=bias+swiglu",
                         "gemm batch=3 m=64 n=64 k=4096 a=f16:row b=f16:column c=f16:row",
                         "gemm m=200 n=264 k=144 a=e4m3:row b=e4m3:column c=bf16:row"})},
      {"conv2d_wgmma",
       all_on(
           "sm_90a",
           {"conv2d n=2 h=14 w=15 c=48 k=72 r=1 s=1 layout=nhwc x=e4m3 f=e4m3 y=bf16 math=two_level",
            "conv2d n=2 h=14 w=15 c=48 k=72 r=3 s=3 pad=1 layout=nhwc x=f16 f=f16 y=f16",
            "conv2d n=4 h=17 w=19 c=208 k=96 r=3 s=3 pad=1 layout=nhwc x=e4m3 f=e4m3 y=bf16 math=two_level",
            "conv2d n=1 h=7 w=7 c=16 k=8 r=1 s=1 layout=nhwc x=bf16 f=bf16 y=bf16",
            "conv2d n=8 h=14 w=14 c=64 k=128 r=1 s=1 layout=nhwc x=s8 f=s8 y=s32 accum=s32",
            "conv2d n=32 h=28 w=28 c=128 k=256 r=3 s=3 stride=2 pad=1 layout=nhwc x=bf16 f=bf16 y=bf16 "
            "epilogue=bias+relu"})},
      {"gemm_mma",
       {{"sm_90a", "gemm m=200 n=264 k=144 a=e4m3:row b=e4m3:row c=bf16:row"},
        {"sm_80", "gemm m=16 n=264 k=32 a=bf16:row b=bf16:column c=bf16:row"},
        {"sm_75", "gemm m=100 n=72 k=64 a=f16:row b=f16:column c=f16:row"},
        {"sm_80", "gemm m=200 n=264 k=144 a=s8:row b=s8:column c=s32:row accum=s32"},
        {"sm_90a", "gemm m=100 n=72 k=500 math=3xtf32"},
        {"sm_89", "gemm m=200 n=264 k=144 a=e4m3:row b=e4m3:column c=bf16:row math=two_level"},
        {"sm_90a", "gemm m=1 n=4096 k=4096 a=bf16:row b=bf16:column c=bf16:row"},
        {"sm_100", "gemm m=200 n=264 k=144 a=e4m3:row b=e4m3:column c=bf16:row"},
        {"sm_120", "gemm m=200 n=264 k=8 a=f16:column b=f16:row c=f16:row epilogue=bias+relu"},
        {"sm_86", "gemm m=64 n=64 k=16 math=tf32"}}},
      {"conv2d_mma",
       {{"sm_90a", "conv2d n=2 h=14 w=15 c=48 k=72 r=3 s=3 pad=1 layout=nhwc x=f16 f=f16 y=f16"},
        {"sm_80", "conv2d n=1 h=7 w=7 c=16 k=8 r=1 s=1 layout=nhwc x=bf16 f=bf16 y=bf16"},
        {"sm_80", "conv2d n=8 h=14 w=14 c=64 k=128 r=1 s=1 layout=nhwc x=s8 f=s8 y=s32 accum=s32"},
        {"sm_89", "conv2d n=2 h=14 w=15 c=48 k=72 r=3 s=3 pad=1 layout=nhwc x=e4m3 f=e4m3 y=bf16"},
        {"sm_90a", "conv2d n=4 h=9 w=9 c=32 k=64 r=3 s=3 stride=2 pad=1 layout=nhwc math=3xtf32"},
        {"sm_120",
         "conv2d n=8 h=28 w=28 c=64 k=64 r=3 s=3 pad=1 layout=nhwc x=bf16 f=bf16 y=bf16 "
         "epilogue=bias+relu"}}},
      {"gemm_simt",
       {{"sm_90a", "gemm m=200 n=264 k=144"},
        {"sm_80", "gemm m=1001 n=777 k=5"},
        {"sm_75", "gemm m=1 n=264 k=4096"},
        {"sm_90a", "gemm m=64 n=64 k=8 epilogue=bias+relu"},
        {"sm_120", "gemm batch=3 m=100 n=70 k=130 a=f32:column b=f32:column c=f32:row"}}},
      {"gemv_simt",
       {{"sm_90a", "gemm m=1 n=264 k=144 a=bf16:row b=bf16:column c=bf16:row"},
        {"sm_80", "gemm m=1 n=4096 k=4096"},
        {"sm_75", "gemm m=4 n=100 k=64 a=f16:row b=f16:column c=f16:row"},
        {"sm_120", "gemm m=4096 n=2 k=64"}}},
      {"conv2d_simt",
       {{"sm_90a", "conv2d n=2 h=14 w=15 c=48 k=72 r=3 s=3 pad=1"},
        {"sm_80", "conv2d n=1 h=7 w=7 c=3 k=8 r=1 s=1"},
        {"sm_75", "conv2d h=224 w=224 c=3 k=64 r=7 s=7 stride=2 pad=3"},
        {"sm_120", "conv2d n=2 h=14 w=14 c=32 k=32 r=3 s=3 pad=1 layout=nhwc epilogue=bias+relu"}}},
      {"conv2d_depthwise",
       {{"sm_90a", "conv2d h=112 w=112 c=32 k=32 r=3 s=3 pad=1 groups=32"},
        {"sm_80", "conv2d n=2 h=9 w=9 c=8 k=8 r=3 s=3 groups=8"},
        {"sm_90a", "conv2d n=8 h=56 w=56 c=144 k=144 r=3 s=3 pad=1 groups=144 layout=nhwc x=f16 f=f16 y=f16"},
        {"sm_120", "conv2d h=1 w=56 c=8 k=8 r=1 s=3 pad=0x1 groups=8 layout=nhwc"}}},
      {"conv2d_winograd",
       {{"sm_90a", "conv2d n=32 h=28 w=28 c=128 k=128 r=3 s=3 pad=1"},
        {"sm_80", "conv2d n=1 h=4 w=4 c=8 k=8 r=3 s=3 pad=1"},
        {"sm_75", "conv2d n=2 h=14 w=15 c=3 k=64 r=3 s=3 pad=1 epilogue=bias+relu"},
        {"sm_120", "conv2d n=2 h=7 w=7 c=64 k=32 r=3 s=3 pad=1 layout=nhwc"}}}};
  return all;
}

class NothingLost : public ::testing::TestWithParam<std::string> {};

TEST_P(NothingLost, BetweenPtxAndSass) {
  SKIP_WITHOUT_NVRTC_AND_NVDISASM();
  SCOPED_TRACE(::testing::Message() << "seed " << kLossSeed);
  const Template& family = template_named(GetParam());
  const Problems& served = problems().at(GetParam());
  const std::int64_t configs = configs_wanted(10);
  Rng rng(kLossSeed);
  std::map<std::string, NvrtcCompiler> compilers;
  std::int64_t rejected = 0;
  for (std::int64_t n = 0; n < configs; ++n) {
    const auto& [arch, text] = served[static_cast<std::size_t>(n) % served.size()];
    const Workload workload = parse_workload(text);
    const Limits limits = cuda_limits(arch);
    ASSERT_EQ(why_unserved(family, workload, limits), std::nullopt) << text << " on " << arch;
    const Config config = testing::sample_config(family.space(workload, limits), rng).value();
    SCOPED_TRACE(arch + " " + text + " " + to_text(config));
    NvrtcCompiler& compiler = compilers.try_emplace(arch, WorkerCompilerOptions{.arch = arch}).first->second;
    const std::variant<Machine, Failure> machine =
        compiled(compiler, emit(testing::lowered(family, workload, config, limits)));
    if (const auto* failure = std::get_if<Failure>(&machine)) {
      EXPECT_EQ(failure->kind, FailureKind::kRejected) << failure->text;
      ++rejected;
      continue;
    }
    const auto& [ptx, listing, function] = std::get<Machine>(machine);
    for (const std::string& lost : why_not_kept(parse_ptx(ptx), function, arch)) ADD_FAILURE() << lost;
  }
  EXPECT_LE(rejected * 10, configs);
}

std::vector<std::string> families() {
  std::vector<std::string> names;
  for (const Template& family : catalog())
    if (family.target == Target::kCuda) names.push_back(family.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Families, NothingLost, ::testing::ValuesIn(families()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace lehr::sass
