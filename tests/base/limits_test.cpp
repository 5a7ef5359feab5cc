// Limits of CUDA architectures: plain numbers that spaces are built from.
#include "base/limits.h"

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
    // The driver keeps 1 KiB of each block's shared memory (CUDA C++ Programming Guide, "Shared Memory" per
    // arch).
    EXPECT_EQ(limits.shared_bytes_per_block + 1024, limits.shared_bytes_per_core);
    EXPECT_GT(limits.l2_bytes, limits.shared_bytes_per_core);
    EXPECT_GT(limits.peak_gflops_f32, 0);
    EXPECT_GT(limits.dram_gbytes_per_s, 0);
    EXPECT_EQ(limits.vector_bytes, 0);
  }
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
