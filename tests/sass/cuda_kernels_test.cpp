// Tests of sampled kernels of every CUDA family, compiled once by NVRTC and ptxas. Every rule holds for the
// result: kernels do not spill and fit the device, nothing that has an effect is lost between PTX and SASS
// (kept.h), and main loops hold nothing that rules.cpp forbids. Many are for two architectures, a few for
// each of the others. tests/support/seed.h draws others, and more.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "codegen/emit.h"
#include "compiled.h"
#include "cuda_workloads.h"
#include "kept.h"
#include "measure/cuda/nvrtc.h"
#include "measure/worker/compile_workers.h"
#include "rules.h"
#include "target/cuda/archs.h"
#include "templates/catalog.h"
#include "templates/reference/plain_kernel.h"
#include "tests/support/sample_config.h"
#include "tests/support/seed.h"

namespace lehr::sass {
namespace {

std::uint64_t seed() {
  return testing::test_seed(42);
}

std::vector<Workload> served_on(const Template& family, const Limits& limits,
                                const std::vector<std::string>& texts) {
  std::vector<Workload> served;
  for (const std::string& text : texts)
    if (Workload workload = parse_workload(text); !why_unserved(family, workload, limits))
      served.push_back(std::move(workload));
  return served;
}

std::vector<std::string> cuda_families() {
  std::vector<std::string> names;
  for (const Template& family : catalog())
    if (family.target == Target::kCuda) names.push_back(family.name);
  return names;
}

struct Candidate {
  Source source;
  std::string name;
  bool is_default = false;
  bool on_tensor_cores = false;
  bool is_loop = false;  ///< a block adds so many products that its main loop stays a loop
};
/// Returns a config of the family; the default without `rng`.
Candidate candidate(const Template& family, const Workload& workload, const Limits& limits, Rng* rng) {
  const Config config = rng == nullptr ? testing::default_of(family, workload, limits)
                                       : testing::sample_config(family.space(workload, limits), *rng).value();
  const bool on_tensor_cores = family.name.find("mma") != std::string::npos;
  const bool has_loop = on_tensor_cores || family.name == "gemm_simt" || family.name == "conv2d_winograd";
  const std::int64_t depth =
      workload.op() == Operator::kGemm ? workload.gemm().k : workload.conv2d().products();
  return {emit(testing::lowered(family, workload, config, limits)),
          limits.arch + " " + to_text(workload) + " " + to_text(config), rng == nullptr, on_tensor_cores,
          has_loop && flops_of(workload) >= 1e9 && depth / config.find("split_k").value_or(1) >= 2048};
}

/// Returns how many registers setmaxnreg gives a thread of the first warpgroup and of each other one; 0 where
/// it does not.
std::pair<std::int64_t, std::int64_t> registers_dealt_out(const std::string& text) {
  const auto number = [&](std::string_view call) -> std::int64_t {
    const std::size_t at = text.find(call, text.find("extern \"C\""));
    return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + call.size());
  };
  return {number("lehr_setmaxnreg_dec<"), number("lehr_setmaxnreg_inc<")};
}

void expect_it_fits(const Source& source, const Resources& used, const Limits& limits) {
  const ir::Launch& launch = source.launch;
  const std::int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  EXPECT_EQ(used.spill_bytes, 0);
  EXPECT_EQ(used.stack_bytes, 0);  // every register array was split into registers
  EXPECT_EQ(used.shared_bytes, launch.shared_bytes);
  EXPECT_LE(launch.shared_bytes, limits.shared_bytes_per_block);
  ASSERT_TRUE(used.registers);
  EXPECT_LE((*used.registers + 7) / 8 * 8 * threads, limits.registers_per_core);
  // A warpgroup that asks for more registers than the block was launched with waits for ever.
  const auto [first, others] = registers_dealt_out(source.text);
  EXPECT_LE(128 * first + (threads - 128) * others, *used.registers * threads);
}

/// Returns the loops that multiply, and the loops that load the operands where a warp of its own does that.
std::vector<Loop> main_loops(const std::vector<Instruction>& function, bool on_tensor_cores) {
  if (!on_tensor_cores)
    return innermost(function, [](const Instruction& i) { return i.opcode.starts_with("FFMA"); }, 16);
  std::vector<Loop> result = innermost(function, is_tensor_core);
  for (const Loop& loop :
       innermost(function, [](const Instruction& i) { return i.opcode.starts_with("UTMALDG"); }))
    result.push_back(loop);
  return result;
}

void expect_rules_to_hold(const Candidate& one, const CudaImages& images, const Limits& limits) {
  expect_it_fits(one.source, images.resources, limits);
  if (why_no_nvdisasm()) return;
  const Listing listing = disassembled(images.cubin);
  for (const std::string& lost : why_not_kept(parse_ptx(images.ptx), listing.function, limits.arch))
    ADD_FAILURE() << lost;
  if (!one.is_loop) return;
  const std::vector<Loop> found = main_loops(listing.function, one.on_tensor_cores);
  EXPECT_FALSE(found.empty()) << "no main loop in\n" << listing.text;
  for (const Loop& loop : found)
    for (const std::size_t i : loop)
      if (const auto why = why_forbidden(listing.function[i]))
        ADD_FAILURE() << listing.function[i].line << "\n  in a main loop of " << loop.size()
                      << " instructions: " << *why;
}

/// Expects that the rules hold. A fourteenth of the candidates may be rejected, as in a tuning: for a
/// register or two too few, at the cost of a compilation. If `tried`, the candidates are defaults, and all
/// must pass.
void expect_rules_to_hold(const std::vector<Candidate>& candidates, const Limits& limits, bool tried) {
  NvrtcCompiler compiler({.arch = limits.arch});
  std::size_t rejected = 0;
  for (const Candidate& each : candidates) {
    SCOPED_TRACE(each.name);
    const std::variant<CudaImages, Failure> images = compiler.images_of(each.source);
    if (const auto* made = std::get_if<CudaImages>(&images)) {
      expect_rules_to_hold(each, *made, limits);
      continue;
    }
    const Failure& failure = std::get<Failure>(images);  // spills and advisories are rejections
    EXPECT_EQ(failure.kind, FailureKind::kRejected) << failure.text;
    EXPECT_FALSE(each.is_default && tried) << failure.text;
    if (++rejected > 1 + candidates.size() / 14) ADD_FAILURE() << "one rejected too many: " << failure.text;
  }
}

class CudaKernels : public ::testing::TestWithParam<std::tuple<std::string, const char*>> {};

TEST_P(CudaKernels, CompileFitTheDeviceLoseNothingAndHaveCleanLoops) {
  SKIP_WITHOUT(why_no_nvrtc());
  SKIP_WITHOUT(why_no_nvdisasm());
  SCOPED_TRACE(::testing::Message() << "LEHR_TEST_SEED=" << seed());
  const Template& family = template_named(std::get<0>(GetParam()));
  const Limits limits = cuda_limits(std::get<1>(GetParam()));
  const std::vector<Workload> usual = served_on(family, limits, usual_workloads());
  const std::vector<Workload> odd = served_on(family, limits, odd_workloads());
  if (usual.empty()) GTEST_SKIP() << family.name << " serves nothing on " << limits.arch;
  const bool is_wgmma = family.name.find("wgmma") != std::string::npos;
  const std::int64_t samples = testing::configs_wanted(is_wgmma ? 12 : 5);
  Rng rng = Rng(seed()).fork(family.name + limits.arch);
  std::vector<Candidate> candidates;
  // In CI every other default is compiled for one of the two architectures, the others for the other.
  const std::size_t step = is_wgmma || samples > 12 ? 1 : 2;
  for (std::size_t i = limits.arch == "sm_80" ? 0 : step - 1; i < usual.size(); i += step)
    candidates.push_back(candidate(family, usual[i], limits, nullptr));
  for (std::int64_t i = 0; i < samples; ++i)
    candidates.push_back(candidate(family, odd[rng.below(odd.size())], limits, &rng));
  expect_rules_to_hold(candidates, limits, true);
  const auto deals = [](const Candidate& c) { return registers_dealt_out(c.source.text).second > 0; };
  EXPECT_EQ(std::ranges::any_of(candidates, deals), is_wgmma);
  const auto in_clusters =
      std::ranges::count_if(candidates, [](const Candidate& c) { return c.source.launch.cluster > 1; });
  EXPECT_EQ(in_clusters > 0, is_wgmma) << in_clusters;
}

/// Returns the architectures whose families have no test of their own above.
std::vector<std::string> other_archs() {
  std::vector<std::string> archs = known_cuda_archs();
  std::erase(archs, "sm_80");
  std::erase(archs, "sm_90a");
  return archs;
}

class EveryArchitecture : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryArchitecture, SamplesOfEveryFamilyObeyTheSameRules) {
  SKIP_WITHOUT(why_no_nvrtc());
  SKIP_WITHOUT(why_no_nvdisasm());
  SCOPED_TRACE(::testing::Message() << "LEHR_TEST_SEED=" << seed());
  const Limits limits = cuda_limits(GetParam());
  Rng rng = Rng(seed()).fork(GetParam());
  std::vector<Candidate> candidates;
  for (const std::string& name : cuda_families()) {
    const Template& family = template_named(name);
    const std::vector<Workload> usual = served_on(family, limits, usual_workloads());
    const std::vector<Workload> odd = served_on(family, limits, odd_workloads());
    EXPECT_EQ(usual.empty(), name.find("wgmma") != std::string::npos) << name;
    if (usual.empty()) continue;
    for (std::int64_t i = 0; i < (testing::configs_wanted(1) + 3) / 4; ++i) {
      const bool is_default = rng.below(2) == 0;
      const std::vector<Workload>& drawn = is_default ? usual : odd;
      candidates.push_back(
          candidate(family, drawn[rng.below(drawn.size())], limits, is_default ? nullptr : &rng));
    }
  }
  expect_rules_to_hold(candidates, limits, false);
}

class PlainKernels : public ::testing::TestWithParam<std::string> {};

/// Kernels are compiled in worker processes, as a tuning compiles.
TEST_P(PlainKernels, CompileAndFitTheDevice) {
  SKIP_WITHOUT(why_no_nvrtc());
  SCOPED_TRACE(::testing::Message() << "LEHR_TEST_SEED=" << seed());
  const Limits limits = cuda_limits(GetParam());
  Rng rng = Rng(seed()).fork(GetParam() + " plain");
  std::vector<Source> sources;
  std::vector<std::string> texts;
  while (static_cast<std::int64_t>(sources.size()) < testing::configs_wanted(2)) {
    texts.push_back(usual_workloads()[rng.below(usual_workloads().size())]);
    if (const std::optional<PlainKernel> plain = plain_kernel(parse_workload(texts.back()), limits))
      sources.push_back(emit(plain->kernel));
    else
      texts.pop_back();
  }
  CompileWorkersOptions options;
  options.worker.program = LEHR_MEASURE_WORKER;
  options.target = Target::kCuda;
  options.compiler.arch = limits.arch;
  const std::vector<Compiled> results = CompileWorkers(options).compile(sources);
  for (std::size_t i = 0; i < results.size(); ++i) {
    SCOPED_TRACE(limits.arch + " " + texts[i]);
    const Binary* binary = std::get_if<Binary>(&results[i]);
    EXPECT_TRUE(binary) << std::get<Failure>(results[i]).text;
    if (binary) expect_it_fits(sources[i], binary->resources, limits);
  }
}

const auto name_of_arch = [](const ::testing::TestParamInfo<std::string>& info) { return info.param; };
INSTANTIATE_TEST_SUITE_P(Archs, EveryArchitecture, ::testing::ValuesIn(other_archs()), name_of_arch);
INSTANTIATE_TEST_SUITE_P(Archs, PlainKernels, ::testing::ValuesIn(known_cuda_archs()), name_of_arch);
INSTANTIATE_TEST_SUITE_P(Families, CudaKernels,
                         ::testing::Combine(::testing::ValuesIn(cuda_families()),
                                            ::testing::Values("sm_80", "sm_90a")),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_" + std::get<1>(info.param);
                         });

}  // namespace
}  // namespace lehr::sass
