// Tests of the limits of CUDA architectures: plain numbers that spaces are built from.
#include "target/cuda/archs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace lehr {
namespace {

TEST(CudaLimits, AreConsistentForEveryKnownArchitecture) {
  ASSERT_FALSE(known_cuda_archs().empty());
  for (const std::string& arch : known_cuda_archs()) {
    SCOPED_TRACE(arch);
    const Limits limits = cuda_limits(arch);
    EXPECT_EQ(limits.target, Target::kCuda);
    EXPECT_EQ(limits.arch, arch);
    EXPECT_EQ(limits.warp_size, 32);
    EXPECT_GT(limits.cores, 0);
    EXPECT_EQ(limits.max_threads_per_core % limits.warp_size, 0);
    EXPECT_LE(limits.max_threads_per_block, limits.max_threads_per_core);
    EXPECT_EQ(limits.shared_bytes_per_block + limits.shared_bytes_reserved, limits.shared_bytes_per_core);
    EXPECT_GT(limits.l2_bytes, limits.shared_bytes_per_core);
    EXPECT_GT(limits.peak_gflops_f32, 0);
    EXPECT_GT(limits.dram_gbytes_per_s, 0);
    EXPECT_EQ(limits.vector_bytes, 0);
    // The datasheet's peak is the card's lanes at a clock that there is.
    const double ghz = limits.peak_gflops_f32 / (2.0 * limits.f32_lanes * limits.cores);
    EXPECT_GT(ghz, 1.2);
    EXPECT_LT(ghz, 2.6);
  }
}

TEST(CudaLimits, HaveARateForWhateverTheArchitectureMultiplies) {
  for (const std::string& arch : known_cuda_archs()) {
    SCOPED_TRACE(arch);
    const Limits limits = cuda_limits(arch);
    EXPECT_GT(limits.tensor_gflops_f16, limits.peak_gflops_f32);
    EXPECT_EQ(limits.tensor_gflops_tf32 > 0, limits.has(Ability::kMmaTf32));
    EXPECT_EQ(limits.tensor_gflops_f8 > 0, limits.has(Ability::kMmaF8));
    EXPECT_GT(limits.tensor_gflops_s8, 0);
    EXPECT_TRUE(limits.has(Ability::kMmaF8) || !limits.has(Ability::kMmaF8IsNative));
    EXPECT_GT(limits.mma_sync_share, 0);
    EXPECT_LE(limits.mma_sync_share, 1);
  }
}

TEST(CudaLimits, OnlyHopperHasWgmma) {
  for (const std::string& arch : known_cuda_archs())
    EXPECT_EQ(cuda_limits(arch).has(Ability::kWgmma), arch == "sm_90a") << arch;
  EXPECT_FALSE(cuda_limits("sm_75").has(Ability::kAsyncCopies));
  EXPECT_TRUE(cuda_limits("sm_80").has(Ability::kAsyncCopies));
  EXPECT_FALSE(cuda_limits("sm_80").has(Ability::kMmaF8));
}

TEST(CudaLimits, AreFoundByWhatTheDriverSays) {
  const auto arch_of = [](int major, int minor) {
    const std::optional<Limits> limits = cuda_card_limits({major, minor}, "");
    return limits ? limits->arch : "";
  };
  EXPECT_EQ(arch_of(7, 5), "sm_75");
  EXPECT_EQ(arch_of(8, 6), "sm_86");
  EXPECT_EQ(arch_of(8, 8), "sm_87") << "code of an older minor version runs";
  EXPECT_EQ(arch_of(9, 0), "sm_90a");
  EXPECT_EQ(arch_of(10, 1), "sm_100");
  EXPECT_EQ(arch_of(10, 3), "sm_103");
  EXPECT_EQ(arch_of(11, 0), "sm_110");
  EXPECT_EQ(arch_of(12, 1), "sm_121");
  EXPECT_EQ(arch_of(7, 0), "") << "CUDA 13 has dropped it";
  EXPECT_EQ(arch_of(13, 0), "");
}

/// Returns how many products of f16 come with one multiply-add of f32.
double gain(int major, int minor, const char* card) {
  const Limits limits = cuda_card_limits({major, minor}, card).value();
  return limits.tensor_gflops_f16 / limits.peak_gflops_f32;
}

TEST(CudaLimits, GeForceCardsHaveHalfTheRateOfSumsInF32) {
  EXPECT_NEAR(gain(8, 9, "NVIDIA L40S"), 4, 0.1);
  EXPECT_NEAR(gain(8, 9, "NVIDIA GeForce RTX 4090"), 2, 0.1);
  EXPECT_NEAR(gain(8, 6, "NVIDIA GeForce RTX 3090"), 2, 0.1);
  EXPECT_NEAR(gain(8, 6, "NVIDIA RTX A6000"), 4, 0.1);
  EXPECT_NEAR(gain(12, 0, "NVIDIA GeForce RTX 5090"), 2, 0.1);
  EXPECT_NEAR(gain(12, 0, "NVIDIA RTX PRO 6000 Blackwell Workstation Edition"), 4, 0.1);
  EXPECT_NEAR(gain(12, 1, "NVIDIA GB10"), 2, 0.1);
  EXPECT_NEAR(gain(7, 5, "Tesla T4"), 8, 0.1);
  EXPECT_NEAR(gain(9, 0, "NVIDIA H200"), 14.8, 0.1);
  const auto s8 = [](const char* card) { return cuda_card_limits({8, 9}, card)->tensor_gflops_s8; };
  EXPECT_EQ(s8("NVIDIA GeForce RTX 4090"), s8("NVIDIA L40S"));
}

TEST(CudaLimits, RatesGoWithTheClock) {
  Limits limits = cuda_limits("sm_80");
  scale_rates(limits, limits.peak_gflops_f32 / 2);
  EXPECT_DOUBLE_EQ(limits.peak_gflops_f32, cuda_limits("sm_80").peak_gflops_f32 / 2);
  EXPECT_DOUBLE_EQ(limits.tensor_gflops_s8, cuda_limits("sm_80").tensor_gflops_s8 / 2);
  scale_rates(limits, 0);
  EXPECT_DOUBLE_EQ(limits.peak_gflops_f32, cuda_limits("sm_80").peak_gflops_f32 / 2) << "0: not known";
}

TEST(CudaLimits, NamesTheKnownArchitecturesWhenAskedForAnother) {
  try {
    cuda_limits("sm_35");
    FAIL() << "no Error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUser);
    EXPECT_THAT(error.what(), testing::HasSubstr("sm_35"));
    for (const std::string& arch : known_cuda_archs()) EXPECT_THAT(error.what(), testing::HasSubstr(arch));
  }
}

}  // namespace
}  // namespace lehr
