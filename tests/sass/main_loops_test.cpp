// Sampled kernels through NVRTC and nvdisasm: their main loops hold no fence, no local memory, and no cache
// control that is not listed in rules.cpp. LEHR_SASS_CONFIGS in the environment sets how many of a family and
// architecture.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "codegen/emit.h"
#include "compiled.h"
#include "kept.h"
#include "rules.h"
#include "target/cuda/archs.h"
#include "templates/catalog.h"
#include "tests/support/sample_config.h"

namespace lehr::sass {
namespace {

constexpr std::uint64_t kSeed = 17;

struct Case {
  const char* family;
  const char* arch;
  std::int64_t configs;
  std::vector<const char*> workloads;  ///< with so long a k that there is a loop
};
void PrintTo(const Case& one, std::ostream* out) {
  *out << one.family << " " << one.arch;
}
std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  return std::string(info.param.family) + "_" + info.param.arch;
}

std::vector<Case> cases() {
  const std::vector<const char*> products = {
      "gemm m=4096 n=4096 k=4096 a=bf16:row b=bf16:column c=bf16:row",
      "gemm m=2048 n=2048 k=2048 a=f16:column b=f16:row c=f32:row",
      "gemm m=16 n=4096 k=8192 a=bf16:row b=bf16:column c=bf16:row",
      "gemm m=1000 n=2048 k=4096 a=s8:row b=s8:column c=s32:row accum=s32",
      "gemm m=4096 n=4096 k=4096 a=f32:row b=f32:column math=tf32",
      "gemm m=4096 n=4096 k=4096 a=f32:row b=f32:row math=tf32",
      "gemm m=2048 n=2048 k=4096 a=bf16:row b=bf16:column c=bf16:row epilogue=bias+swiglu",
  };
  const std::vector<const char*> images = {
      "conv2d n=32 h=28 w=28 c=512 k=512 r=3 s=3 pad=1 layout=nhwc x=f16 f=f16 y=f16",
      "conv2d n=32 h=28 w=28 c=512 k=256 r=3 s=3 stride=2 pad=1 layout=nhwc x=bf16 f=bf16 y=bf16 "
      "epilogue=bias+relu",
      "conv2d n=8 h=14 w=14 c=2048 k=512 r=1 s=1 layout=nhwc x=s8 f=s8 y=s32 accum=s32",
  };
  std::vector<const char*> with_8_bits = products;
  with_8_bits.push_back("gemm m=4096 n=4096 k=4096 a=e4m3:row b=e4m3:column c=bf16:row");
  with_8_bits.push_back("gemm m=4096 n=4096 k=4096 a=e4m3:row b=e4m3:column c=bf16:row math=two_level");
  return {{"gemm_wgmma", "sm_90a", 14, with_8_bits},
          {"conv2d_wgmma", "sm_90a", 8, images},
          {"gemm_mma", "sm_80", 3, products},
          {"gemm_mma", "sm_90a", 4, with_8_bits},
          {"conv2d_mma", "sm_80", 2, images},
          {"conv2d_mma", "sm_90a", 2, images},
          {"gemm_simt", "sm_90a", 2, {"gemm m=4096 n=4096 k=4096"}},
          {"conv2d_winograd", "sm_90a", 2, {"conv2d n=32 h=28 w=28 c=512 k=128 r=3 s=3 pad=1"}}};
}

/// Loops that multiply, and those that bring what is multiplied where a warp of its own does that.
std::vector<Loop> main_loops(const std::vector<Instruction>& function, bool tensor_cores) {
  if (!tensor_cores)
    return innermost(function, [](const Instruction& i) { return i.opcode.starts_with("FFMA"); }, 16);
  std::vector<Loop> result = innermost(function, is_tensor_core);
  for (const Loop& loop :
       innermost(function, [](const Instruction& i) { return i.opcode.starts_with("UTMALDG"); }))
    result.push_back(loop);
  return result;
}

class MainLoops : public ::testing::TestWithParam<Case> {};

TEST_P(MainLoops, HoldNothingThatIsForbidden) {
  SKIP_WITHOUT_NVRTC_AND_NVDISASM();
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  const Case& one = GetParam();
  const Template& family = template_named(one.family);
  const Limits limits = cuda_limits(one.arch);
  NvrtcCompiler compiler({.arch = one.arch});
  const std::int64_t configs = configs_wanted(one.configs);
  Rng rng(kSeed);
  std::int64_t in_clusters = 0, instructions = 0;
  for (std::int64_t n = 0; n < configs; ++n) {
    const auto count = static_cast<std::int64_t>(one.workloads.size());
    const Workload workload = parse_workload(one.workloads[static_cast<std::size_t>(n % count)]);
    const Config config = n < count ? testing::default_of(family, workload, limits)
                                    : testing::sample_config(family.space(workload, limits), rng).value();
    SCOPED_TRACE(to_text(workload) + " " + to_text(config));
    const Source source = emit(testing::lowered(family, workload, config, limits));
    const std::variant<Machine, Failure> machine = compiled(compiler, source);
    ASSERT_TRUE(std::holds_alternative<Machine>(machine)) << std::get<Failure>(machine).text;
    const auto& [ptx, listing, function] = std::get<Machine>(machine);
    for (const std::string& lost : why_not_kept(parse_ptx(ptx), function, one.arch)) ADD_FAILURE() << lost;
    const std::vector<Loop> found = main_loops(function, family.name.find("mma") != std::string::npos);
    EXPECT_FALSE(found.empty()) << "no main loop in\n" << listing;
    for (const Loop& loop : found)
      for (const std::size_t i : loop)
        if (const auto why = why_forbidden(function[i]))
          ADD_FAILURE() << function[i].line << "\n  in a main loop of " << loop.size()
                        << " instructions: " << *why;
    for (const Loop& loop : found) instructions += static_cast<std::int64_t>(loop.size());
    in_clusters += source.launch.cluster > 1 ? 1 : 0;
  }
  RecordProperty("instructions", fmt::format("{}", instructions));
  EXPECT_TRUE(family.name != "gemm_wgmma" || in_clusters > configs / 6) << in_clusters;
}

INSTANTIATE_TEST_SUITE_P(Families, MainLoops, ::testing::ValuesIn(cases()), name_of);

}  // namespace
}  // namespace lehr::sass
