// Compares the results of every CUDA family's emitted text with the reference in double precision, with the
// tolerance of the measurer. The emulator runs the text on odd shapes in every layout and type, under
// rotating schedules. `--configs N`: at least N kernels per family (default 16), and half as many on random
// shapes. Random shapes differ in each run. Their seed is printed, and `--seed N` draws them again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>

#include "base/error.h"
#include "codegen/emit.h"
#include "measure/core/check.h"
#include "target/cuda/archs.h"
#include "templates/catalog.h"
#include "tests/emulator/families.h"
#include "tests/emulator/program.h"
#include "tests/emulator/random_workloads.h"
#include "tests/support/problem_for.h"
#include "tests/support/sample_config.h"
#include "tests/support/seed.h"
#include "tests/support/verify.h"
#include "tune/task.h"

namespace lehr {
namespace {

using lehr::testing::Sample;
using lehr::testing::Shape;

constexpr std::uint64_t kSeed = 20251121;
/// Number of kernels that are compiled and held at a time.
constexpr std::size_t kBatch = 64;

std::size_t configs_per_family() {
  return static_cast<std::size_t>(testing::configs_wanted(16));
}

/// Returns the seed of the random shapes.
std::uint64_t random_seed() {
  return testing::test_seed(kSeed);
}

/// Returns shapes. They are small, since emulation is slow. No size is a multiple of a tile, and there are
/// dimensions of one, of few and of many elements.
const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {
      {1, 1, 1, 1},      {7, 5, 3, 3},      {33, 65, 17, 1},  {65, 33, 129, 1}, {1, 200, 264, 1},
      {3, 136, 200, 2},  {8, 72, 520, 1},   {17, 40, 96, 1},  {31, 104, 72, 3}, {300, 1, 40, 1},
      {96, 64, 100, 1},  {130, 136, 56, 1}, {70, 90, 50, 2},  {4, 264, 33, 1},  {128, 128, 64, 1},
      {17, 40, 1100, 1}, {33, 24, 1536, 2}, {40, 66, 2051, 1}};
  return all;
}

void run(const std::vector<Sample>& samples, std::size_t begin, std::size_t end, std::uint64_t seed = kSeed) {
  std::vector<Source> sources;
  for (std::size_t i = begin; i < end; ++i) {
    const ir::Kernel kernel = lowered(samples[i]);
    ASSERT_EQ(ir::why_malformed(kernel), std::nullopt) << to_text(samples[i]);
    sources.push_back(emit(kernel));
  }
  const emulator::Program program(sources);
  for (std::size_t i = begin; i < end; ++i) {
    SCOPED_TRACE(::testing::Message() << "number " << i << ": " << to_text(samples[i]));
    const Problem problem = problem_for(samples[i].workload, seed + i);
    const std::vector<std::vector<float>> inputs = inputs_of(problem);
    const emulator::Result result = program.run(i - begin, inputs, emulator::rotated(i));
    EXPECT_FALSE(result.fault) << *result.fault;
    if (!result.fault) {
      EXPECT_EQ(compare_output(problem, result.output_bytes.at(0).data()).fault, "");
      const auto bytes = static_cast<std::int64_t>(result.output_bytes.at(0).size());
      EXPECT_EQ(result.traffic.at(2).written_bytes, bytes);  // each element once
    }
  }
}

bool has_split_k(const FamilySpace& space) {
  return std::ranges::any_of(space.knobs(), [](const Knob& knob) { return knob.name == "split_k"; });
}

/// Expects that each type of operands has a config in which blocks split k, if the family can split k.
void expect_splits_of_every_type(const std::vector<Sample>& samples) {
  std::map<std::pair<DType, Math>, int> splits;
  for (const Sample& sample : samples) {
    if (!has_split_k(sample.family->space(sample.workload, sample.limits))) return;
    const lehr::testing::Facts facts = lehr::testing::facts_of(sample.workload);
    splits[{facts.operand, facts.math}] += lehr::testing::splits_k(sample.config) ? 1 : 0;
  }
  for (const auto& [types, count] : splits)
    EXPECT_GE(count, 1) << name_of(types.first) << " " << name_of(types.second);
}

class EmulatedFamily : public ::testing::TestWithParam<const Template*> {};

TEST_P(EmulatedFamily, IsRightForEveryTypeLayoutAndOddShape) {
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  const auto start = std::chrono::steady_clock::now();
  Rng rng(kSeed);
  const std::vector<Sample> samples =
      lehr::testing::samples_of(*GetParam(), configs_per_family(), shapes(), rng);
  ASSERT_GE(samples.size(), configs_per_family());
  expect_splits_of_every_type(samples);
  for (std::size_t i = 0; i < samples.size(); i += kBatch) {
    run(samples, i, std::min(i + kBatch, samples.size()));
    if (HasFatalFailure()) return;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::cout << GetParam()->name << ": " << samples.size() << " kernels in " << took.count() << " s\n";
}

/// Adds a config for the workload if the family serves the workload. Every fourth config is the default. If
/// the workload is served but has no valid config, the test fails.
void add_random_sample(const Template& family, const Workload& workload, const Limits& limits, Rng& rng,
                       std::vector<Sample>& samples) {
  if (why_unserved(family, workload, limits)) return;
  SCOPED_TRACE(::testing::Message() << family.name << " " << limits.arch << " " << to_text(workload));
  try {
    const std::optional<Config> config = samples.size() % 4 == 0
                                             ? testing::default_of(family, workload, limits)
                                             : testing::sample_config(family.space(workload, limits), rng);
    ASSERT_TRUE(config) << "the family says that it serves this, and has no schedule";
    samples.push_back({&family, workload, limits, *config});
  } catch (const Error& error) {
    FAIL() << error.what();
  }
}

TEST_P(EmulatedFamily, IsRightForRandomShapes) {
  SCOPED_TRACE(::testing::Message() << "LEHR_TEST_SEED=" << random_seed()
                                    << " LEHR_TEST_CONFIGS=" << configs_per_family());
  const std::vector<std::string> archs = known_cuda_archs();
  const std::size_t count = configs_per_family() / 2;
  constexpr int kMostDraws = 4000;  // draws for one sample: a special family serves few shapes
  Rng rng = Rng(random_seed()).fork(GetParam()->name);
  std::vector<Sample> samples;
  for (std::size_t draw = 0; samples.size() < count; ++draw) {
    ASSERT_LT(draw, kMostDraws * count) << "the family serves hardly any random shape";
    const Workload workload = lehr::testing::random_workload(GetParam()->op, rng);
    add_random_sample(*GetParam(), workload, cuda_limits(archs[rng.below(archs.size())]), rng, samples);
    if (HasFailure()) return;
  }
  for (std::size_t i = 0; i < samples.size(); i += kBatch) {
    run(samples, i, std::min(i + kBatch, samples.size()), random_seed());
    if (HasFatalFailure()) return;
  }
}

/// Returns those samples that the family also serves with these limits, with schedules for their
/// architecture.
std::vector<Sample> samples_on(const Limits& limits, const Template& family, std::size_t count) {
  Rng rng(kSeed);
  std::vector<Sample> result;
  for (Sample sample : lehr::testing::samples_of(family, 8 * count, shapes(), rng)) {
    if (result.size() == count) break;
    if (why_unserved(family, sample.workload, limits)) continue;
    sample.limits = limits;
    sample.config = result.size() % 4 == 0
                        ? testing::default_of(family, sample.workload, limits)
                        : testing::sample_config(family.space(sample.workload, limits), rng).value();
    result.push_back(sample);
  }
  return result;
}

/// Turing has neither cp.async nor the newer mma shapes: tiles are loaded through registers, and f16 products
/// are computed in halves of k.
TEST(EmulatedTuring, IsRightInAllItsFamilies) {
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  constexpr std::size_t kKernels = 12;
  std::vector<std::string> families;
  for (const Template* family : lehr::testing::cuda_families()) {
    const std::vector<Sample> samples = samples_on(cuda_limits("sm_75"), *family, kKernels);
    if (samples.empty()) continue;
    families.push_back(family->name);
    run(samples, 0, samples.size());
    for (const Sample& sample : samples) {
      const std::string text = emit(lowered(sample)).text;
      EXPECT_EQ(text.find("cp.async"), std::string::npos) << to_text(sample);
      EXPECT_EQ(text.find("m16n8k16"), std::string::npos) << to_text(sample);
    }
  }
  EXPECT_EQ(families, (std::vector<std::string>{"gemm_simt", "gemm_mma", "gemv_simt", "conv2d_simt",
                                                "conv2d_winograd", "conv2d_mma", "conv2d_depthwise"}));
}

/// Returns epilogues. Each step occurs at least once, before and after others.
const std::vector<std::string>& epilogues() {
  static const std::vector<std::string> all = {
      "bias+relu",       "scale_shift+residual+relu", "gelu_tanh", "bias+gelu_erf", "silu+residual",
      "residual+relu6",  "sigmoid+scale_shift",       "tanh+bias", "clamp(-1,2.5)", "bias+silu",
      "residual+sigmoid"};
  return all;
}

TEST_P(EmulatedFamily, ComputesEveryEpilogue) {
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  constexpr std::size_t kKernels = 11;
  Rng rng(kSeed);
  const std::vector<Sample> served = lehr::testing::samples_of(*GetParam(), 4 * kKernels, shapes(), rng);
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < served.size() && samples.size() < kKernels; ++i) {
    Sample sample = served[rng.below(served.size())];
    if (accum_of(sample.workload) == DType::kS32) continue;
    sample.workload.epilogue = parse_epilogue(epilogues()[samples.size() % epilogues().size()]);
    ASSERT_EQ(why_unserved(*GetParam(), sample.workload, sample.limits), std::nullopt) << to_text(sample);
    // The epilogue's steps need registers, so some schedules of the plain workload are not valid for this
    // workload.
    const FamilySpace space = GetParam()->space(sample.workload, sample.limits);
    if (space.why_invalid(sample.config)) sample.config = testing::sample_config(space, rng).value();
    samples.push_back(sample);
  }
  ASSERT_EQ(samples.size(), kKernels);
  run(samples, 0, samples.size());
}

/// Returns samples of scaled products. Every other sample has an epilogue after the scale, and every third
/// splits k (if the family can).
std::vector<Sample> scaled_samples(const Template& family, std::size_t count) {
  Rng rng(kSeed);
  std::vector<Sample> result;
  if (family.op != Operator::kGemm) return result;
  std::size_t whole = 0;
  for (Sample sample : lehr::testing::samples_of(family, 8 * count, shapes(), rng)) {
    const bool splits = lehr::testing::splits_k(sample.config);
    if (accum_of(sample.workload) == DType::kS32 || (!splits && whole > 2 * count / 3)) continue;
    const float size = static_cast<float>(1 + rng.below(2000)) / 1000;
    sample.workload.gemm().alpha = rng.below(2) == 0 ? size : -size;
    // With a scale alone all schedules of the plain workload stay valid. With an epilogue they do not.
    if (result.size() % 2 == 1) sample.workload.epilogue = parse_epilogue("bias+relu");
    if (why_unserved(family, sample.workload, sample.limits)) continue;
    if (family.space(sample.workload, sample.limits).why_invalid(sample.config)) continue;
    whole += splits ? 0 : 1;
    result.push_back(sample);
    if (result.size() == count) break;
  }
  return result;
}

TEST(EmulatedScales, MultiplyEachSumOnce) {
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  constexpr std::size_t kKernels = 18;
  std::vector<std::string> families, splitting;
  for (const Template* family : lehr::testing::cuda_families()) {
    const std::vector<Sample> samples = scaled_samples(*family, kKernels);
    if (samples.empty()) continue;
    families.push_back(family->name);
    if (std::ranges::count_if(samples, [](const Sample& s) { return lehr::testing::splits_k(s.config); }) >=
        4)
      splitting.push_back(family->name);
    run(samples, 0, samples.size());
  }
  EXPECT_EQ(families, (std::vector<std::string>{"gemm_simt", "gemm_mma", "gemm_wgmma", "gemv_simt"}));
  EXPECT_EQ(splitting, (std::vector<std::string>{"gemm_simt", "gemm_mma", "gemm_wgmma"}));
}

/// Returns the served samples that their family also serves with a gate, with twice the columns.
std::vector<Sample> gated_samples(const Template& family, std::size_t count) {
  const std::vector<std::string> gates = {"swiglu", "bias+geglu", "scale_shift+swiglu"};
  Rng rng(kSeed);
  std::vector<Sample> result;
  if (family.op != Operator::kGemm) return result;
  for (Sample sample : lehr::testing::samples_of(family, 4 * count, shapes(), rng)) {
    Gemm& gemm = sample.workload.gemm();
    gemm.n *= 2;
    gemm.c.layout = Layout::kRow;
    if (gemm.accum == DType::kS32) continue;
    sample.workload.epilogue = parse_epilogue(gates[result.size() % gates.size()]);
    if (why_unserved(family, sample.workload, sample.limits)) continue;
    sample.config = testing::sample_config(family.space(sample.workload, sample.limits), rng).value();
    result.push_back(sample);
    if (result.size() == count) break;
  }
  return result;
}

TEST(EmulatedGates, MakeOneColumnOfTwo) {
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  constexpr std::size_t kKernels = 8;
  std::vector<std::string> families;
  for (const Template* family : lehr::testing::cuda_families()) {
    const std::vector<Sample> samples = gated_samples(*family, kKernels);
    if (samples.empty()) continue;
    EXPECT_EQ(samples.size(), kKernels) << family->name;
    families.push_back(family->name);
    run(samples, 0, samples.size());
  }
  EXPECT_EQ(families, (std::vector<std::string>{"gemm_simt", "gemm_mma", "gemm_wgmma"}));
}

/// Returns the served samples with a pool, in f32 and in the other types that the family supports.
std::vector<Sample> pooled_samples(const Template& family, std::size_t count) {
  const std::vector<std::string> pools = {"bias+relu+maxpool(2)", "avgpool(2)",
                                          "scale_shift+silu+maxpool(2)"};
  Rng rng(kSeed);
  std::vector<Sample> result;
  if (family.op != Operator::kConv2d || family.pools == ServedPools::kNone) return result;
  for (Sample sample : lehr::testing::samples_of(family, 4 * count, shapes(), rng)) {
    const Conv2d& conv = sample.workload.conv2d();
    if (conv.accum == DType::kS32 || conv.out_h() < 2 || conv.out_w() < 2) continue;
    sample.workload.epilogue = parse_epilogue(pools[result.size() % pools.size()]);
    if (why_unserved(family, sample.workload, sample.limits)) continue;
    const std::optional<Config> config =
        testing::sample_config(family.space(sample.workload, sample.limits), rng);
    CHECK(config, "{} finds no schedule for {}", family.name, to_text(sample.workload));
    sample.config = *config;
    result.push_back(sample);
    if (result.size() == count) break;
  }
  return result;
}

TEST(EmulatedPools, MakeOnePixelOfAWindow) {
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  constexpr std::size_t kKernels = 12;
  for (const Template* family : lehr::testing::cuda_families()) {
    const std::vector<Sample> samples = pooled_samples(*family, kKernels);
    EXPECT_EQ(samples.size(), family->pools != ServedPools::kNone ? kKernels : 0) << family->name;
    if (!samples.empty()) run(samples, 0, samples.size());
  }
}

TEST(EmulatedEdges, AreRightWithoutTapsThatOnlyMeetPadding) {
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  std::vector<std::string> families;
  for (const Template* family : lehr::testing::cuda_families()) {
    if (family->op != Operator::kConv2d) continue;
    families.push_back(family->name);
    Rng rng(kSeed);
    const std::vector<Sample> samples = lehr::testing::edge_samples_of(*family, rng);
    EXPECT_GE(samples.size(), 10U) << family->name;
    for (std::size_t i = 0; i < samples.size(); i += kBatch)
      run(samples, i, std::min(i + kBatch, samples.size()));
  }
  EXPECT_THAT(families,
              ::testing::IsSupersetOf({"conv2d_simt", "conv2d_mma", "conv2d_wgmma", "conv2d_depthwise"}));
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EmulatedFamily, ::testing::ValuesIn(lehr::testing::cuda_families()),
                         [](const auto& info) { return info.param->name; });

}  // namespace
}  // namespace lehr
