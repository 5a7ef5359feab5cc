// Random ordinary workloads through every family that serves them, on every kind of device, in process:
// whatever a person may ask for has spaces, defaults, kernels, text and features. Shapes that were chosen by
// hand hid that no image over 224 pixels could be tuned.
//
//   LEHR_ORDINARY_COUNT=100000 LEHR_TEST_SEED=7 build/ci/tests/templates/ordinary_test (scripts/ordinary
//   sweep)
#include <gtest/gtest.h>

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <map>
#include <span>

#include "base/hash.h"
#include "codegen/emit.h"
#include "costmodel/features.h"
#include "cpu_problems.h"
#include "target/archs.h"
#include "target/cuda/archs.h"
#include "target/isa.h"
#include "templates/catalog.h"
#include "tests/support/isa_limits.h"
#include "tests/support/ordinary.h"
#include "tests/support/ordinary_gpu.h"
#include "tests/support/sample_config.h"
#include "tests/support/seed.h"
#include "tests/support/verify.h"

namespace lehr::testing {
namespace {

constexpr int kSampledConfigs = 2;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// Returns one of each kind of device, with a number of CPU cores and a GPU beside Hopper's that differ from
/// workload to workload.
std::vector<Limits> devices(Rng& rng) {
  const int cores = std::array{1, 2, 6, 64}[rng.below(4)];
  std::vector<Limits> all = {cpu_limits(64, cores), cpu_limits(32, cores), cpu_limits(16, cores)};
  all.back().arch = "neon";
  all.back().vector_registers = 32;
  all.push_back(limits_of(isa_named("x86-64-v4+avx512vnni+avx512bf16"), cores));
  const std::vector<std::string> archs = known_cuda_archs();
  all.push_back(cuda_limits("sm_90a"));
  all.push_back(cuda_limits(archs[rng.below(archs.size())]));
  return all;
}

/// Counts of what the sweep has seen.
struct Seen {
  std::uint64_t kernels = 0;
  std::uint64_t texts = 0;  ///< a hash of all their texts: the same for a seed, whatever compiler built this
};

/// Returns what is wrong with the kernel of a config; "" if it is right.
std::string fault_of(const Workload& workload, const Config& config, const Limits& limits, Seen& seen) {
  const ir::Kernel kernel = lower(workload, config, limits);
  if (const auto malformed = ir::why_malformed(kernel)) return *malformed;
  const std::string text = emit(kernel).text;
  if (text.empty()) return "no text";
  ++seen.kernels;
  seen.texts = hash_combine(seen.texts, stable_hash(text));
  for (const float value : featurize(kernel, limits))
    if (!std::isfinite(value)) return "a feature that is not finite";
  return "";
}

/// Returns what is wrong with a family that serves the workload; "" if it is right.
std::string fault_of(const Template& family, const Workload& workload, const Limits& limits, Rng& rng,
                     Seen& seen) {
  Config config;
  try {
    FamilySpace space = family.space(workload, limits);
    config = testing::default_of(family, workload, limits);
    if (const auto invalid = space.why_invalid(config)) return "the default: " + *invalid;
    if (std::string fault = fault_of(workload, config, limits, seen); !fault.empty()) return fault;
    space.list_prefixes(2000);
    for (int i = 0; i < kSampledConfigs; ++i) {
      const std::optional<Config> sampled = testing::sample_config(space, rng);
      if (!sampled) return "no valid config that sampling can find";
      config = *sampled;
      if (std::string fault = fault_of(workload, config, limits, seen); !fault.empty())
        return fault + " in " + to_text(config);
    }
  } catch (const std::exception& error) {
    return fmt::format("{} in {}", error.what(), to_text(config));
  }
  return "";
}

/// Draws `count` workloads of each of `kinds`, and lets every family that serves one make kernels of it.
/// Returns how many have no family.
std::uint64_t sweep(std::uint64_t seed, std::uint64_t count, std::span<const Ordinary> kinds) {
  fmt::print("seed {} (LEHR_TEST_SEED), {} workloads (LEHR_ORDINARY_COUNT)\n", seed, count);
  Rng rng(seed);
  Seen seen;
  std::uint64_t unserved = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Workload workload = ordinary_workload(rng, kinds[i % kinds.size()]);
    bool is_served = false;
    for (const Limits& limits : devices(rng)) {
      for (const Template& family : catalog()) {
        if (why_unserved(family, workload, limits)) continue;
        is_served = true;
        const std::string fault = fault_of(family, workload, limits, rng, seen);
        EXPECT_EQ(fault, "") << "seed " << seed << ", number " << i << ": " << to_text(workload) << " by "
                             << family.name << " on " << limits.arch << " x" << limits.cores;
      }
    }
    unserved += is_served ? 0 : 1;
  }
  fmt::print("{} kernels, hash of their texts {}; {} of the workloads are served by no family\n",
             seen.kernels, to_hex(seen.texts), unserved);
  return unserved;
}

TEST(Ordinary, EveryWorkloadHasSpacesDefaultsKernelsTextAndFeaturesInEveryFamilyThatServesIt) {
  const std::uint64_t count = from_environment("LEHR_ORDINARY_COUNT", 1200);
  const std::array kinds = {Ordinary{}};
  EXPECT_LT(sweep(test_seed(1), count, kinds), count / 5);
}

// No family serves depthwise convolutions of integers.
TEST(Ordinary, SoHasEveryWorkloadOfBf16AndIntegers) {
  const std::uint64_t count = from_environment("LEHR_ORDINARY_COUNT", 600);
  const std::array kinds = {Ordinary{.type = DType::kBF16}, Ordinary{.type = DType::kU8},
                            Ordinary{.type = DType::kS8}};
  EXPECT_LT(sweep(test_seed(1), count, kinds), count / 4);
}

TEST(OrdinaryGpu, DrawsWorkloadsOfEveryKindThatHopperServesAndThatSomeSecondsTune) {
  const std::uint64_t seed = test_seed(1);
  SCOPED_TRACE(seed);
  Rng rng(seed);
  std::map<std::string, int> kinds;
  for (const GpuWorkload& drawn : ordinary_gpu_workloads(rng, 100)) {
    SCOPED_TRACE(to_text(drawn.workload));
    ++kinds[drawn.kind];
    EXPECT_EQ(parse_workload(to_text(drawn.workload)), drawn.workload);
    EXPECT_FALSE(families_for(catalog(), drawn.workload, cuda_limits("sm_90a")).spaces.empty());
    EXPECT_LE(flops_of(drawn.workload), 1e12);
    EXPECT_LE(min_bytes_of(drawn.workload), 1.5e9);
  }
  EXPECT_EQ(kinds["decode"], 16);
  EXPECT_EQ(kinds["depthwise"], 4);
  EXPECT_EQ(kinds.size(), 10u);
}

TEST(OrdinaryGpu, IsTheSameForASeedAndItsFlagsSayWhatIsNotUsual) {
  Rng one(7), other(7);
  const std::vector<GpuWorkload> workloads = ordinary_gpu_workloads(one, 30);
  const std::vector<GpuWorkload> again = ordinary_gpu_workloads(other, 40);  // the first are the same
  for (std::size_t i = 0; i < workloads.size(); ++i) EXPECT_EQ(workloads[i].workload, again[i].workload);
  EXPECT_EQ(flags_text(parse_workload("gemm m=3 n=4 k=5 a=bf16:row b=bf16:column c=bf16:row epilogue=relu")),
            "m=3 n=4 k=5 a=bf16:row b=bf16:column c=bf16:row accum=f32 epilogue=relu");
  EXPECT_EQ(
      flags_text(parse_workload("conv2d h=9 w=8 c=4 k=6 r=3 s=1 stride=2x2 x=f16 f=f16 y=f32 math=strict")),
      "h=9 w=8 c=4 k=6 r=3 s=1 stride=2x2 dtype=f16 y=f32 accum=f32");
}

}  // namespace
}  // namespace lehr::testing
