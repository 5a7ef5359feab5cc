// Tests of gemm_wgmma's kernels in clusters, by the emulator: every step of what blocks do to each other is
// needed.
#include <gtest/gtest.h>

#include "gemm_mma_cases.h"
#include "gemm_wgmma_faults.h"

namespace lehr {
namespace {

using lehr::testing::Case;
using lehr::testing::Faults;
using lehr::testing::kGemmWgmmaSeed;
using lehr::testing::mma_of;
using lehr::testing::Mutants;

/// Returns whether a cluster is more than two blocks high, and more than one wide.
bool is_tall(const GemmWgmmaSchedule& s) {
  return s.cluster_bm > 2 && s.cluster_bn > 1;
}

/// Returns the mask of the blocks that get a block's load, as the text has it.
std::string mask_of(const GemmWgmmaSchedule& s) {
  if (s.cluster_bn == 1) return " 3);";
  if (is_tall(s)) return " (rank / 2 % 2 * 9 + 3) * (rank / 2 / 2 * 15 + 1));";
  return s.cluster_bn == 4 ? " rank / 4 * 225 + 15);" : " rank / 2 * 9 + 3);";
}

TEST(GemmWgmmaClusters, NeedsEveryStepOfTheCluster) {
  const std::vector<Case> cases = {
      {mma_of(DType::kBF16, 250, 280, 328, 1, 2),
       "gemm_wgmma(swap_ab=0, bm=128, bn=144, k_atoms=1, consumers=2, ping_pong=0, persistent=1, "
       "cluster_bm=2, cluster_bn=1, split_k=1, reduce=0, keep=0, store=0, stmatrix=0, stages=3, in_flight=1, "
       "raster=1, pdl=0)"},
      {mma_of(DType::kBF16, 248, 280, 328, 1, 1),
       "gemm_wgmma(swap_ab=0, bm=64, bn=80, k_atoms=1, consumers=1, ping_pong=0, persistent=0, cluster_bm=2, "
       "cluster_bn=2, split_k=1, reduce=0, keep=0, store=0, stmatrix=0, stages=2, in_flight=0, raster=1, "
       "pdl=0)"},
      {mma_of(DType::kBF16, 250, 72, 136, 1, 2),
       "gemm_wgmma(swap_ab=0, bm=64, bn=64, k_atoms=1, consumers=1, ping_pong=0, persistent=0, cluster_bm=4, "
       "cluster_bn=2, split_k=1, reduce=0, keep=0, store=0, stmatrix=0, stages=2, in_flight=0, raster=1, "
       "pdl=0)"},
      {mma_of(DType::kBF16, 72, 250, 136, 1, 2),
       "gemm_wgmma(swap_ab=0, bm=64, bn=64, k_atoms=1, consumers=1, ping_pong=0, persistent=0, cluster_bm=2, "
       "cluster_bn=4, split_k=1, reduce=0, keep=0, store=0, stmatrix=0, stages=2, in_flight=0, raster=1, "
       "pdl=0)"},
  };
  Mutants mutants;
  for (const Case& one : cases) {
    const Faults faults(one);
    const GemmWgmmaSchedule s = faults.schedule();
    const auto arrivals = [&](std::int64_t blocks) {
      return fmt::format("(empty + stage * 2, {})", s.consumers * blocks);
    };
    faults.plant(mutants, "lehr_cluster_barrier();", "");
    faults.plant(mutants, "lehr_cluster_barrier();", "__syncthreads();");
    faults.plant(mutants, "lehr_cluster_barrier();", "lehr_cluster_barrier_relaxed();");
    faults.plant(mutants, "lehr_cluster_barrier_relaxed();", "");
    faults.plant(mutants, "lehr_cluster_barrier_relaxed();", "__syncthreads();");
    faults.plant(mutants, "lehr_mbarrier_init_fence();", "");
    faults.plant(mutants, arrivals(s.sharing_blocks()), arrivals(s.sharing_blocks() - 1));
    faults.plant(mutants, arrivals(s.sharing_blocks()), arrivals(s.sharing_blocks() + 1));
    const bool tall = is_tall(s);
    faults.plant(mutants, tall ? "rank ^ LEHR_MAX(member, (member - 1) * 2)" : "rank ^ member", "0");
    if (tall) faults.plant(mutants, "LEHR_MAX(member, (member - 1) * 2)", "member");
    faults.plant(mutants, fmt::format("member < {}", s.sharing_blocks()), "member < 1");
    faults.plant(mutants, "lehr_mbarrier_arrive_cluster(", "(void)(");
    faults.plant(mutants, "lehr_mbarrier_wait(empty", "(void)(empty");
    faults.plant(mutants, "lehr_tma_multicast_2d<0>(", "(void)(");
    // Each of these masks leaves out a block.
    const std::string mask = mask_of(s);
    faults.plant(mutants, mask, " 1);");
    faults.plant(mutants, mask, " 2);");
    if (s.cluster_bn == 4)
      faults.plant(mutants, " (rank % 4 % 2 * 17 + 17) * (rank % 4 / 2 * 3 + 1));", " 17);");
  }
  ASSERT_GE(mutants.size(), 62u);
  mutants.expect_each_to_be_found(kGemmWgmmaSeed);
}

}  // namespace
}  // namespace lehr
