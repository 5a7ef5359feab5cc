// Tests of gemm_wgmma's kernels whose blocks split k, by the emulator: every step of how their sums meet is
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

TEST(GemmWgmmaSplit, NeedsEveryStepInAWorkspace) {
  // Parts of equal length: a stage too many at the end of k would be zeros.
  Mutants mutants;
  for (const char* const config :
       {"gemm_wgmma(swap_ab=0, bm=128, bn=96, k_atoms=1, consumers=2, ping_pong=0, persistent=0, "
        "cluster_bm=1, cluster_bn=1, split_k=3, reduce=0, keep=1, store=0, stmatrix=0, stages=3, "
        "in_flight=0, raster=1, pdl=1)",
        "gemm_wgmma(swap_ab=1, bm=64, bn=80, k_atoms=1, consumers=1, ping_pong=0, persistent=0, "
        "cluster_bm=1, cluster_bn=1, split_k=2, reduce=0, keep=2, store=0, stmatrix=0, stages=2, "
        "in_flight=0, raster=1, pdl=0)",
        "gemm_wgmma(swap_ab=0, bm=64, bn=80, k_atoms=1, consumers=1, ping_pong=0, persistent=0, "
        "cluster_bm=2, cluster_bn=1, split_k=2, reduce=0, keep=0, store=0, stmatrix=0, stages=3, "
        "in_flight=0, raster=1, pdl=0)"}) {
    const Faults faults({mma_of(DType::kBF16, 72, 136, 1096, 1, 2), config});
    faults.plant_those_of_split_k(mutants);
    // A cluster's barrier stands in front of the exchange, too.
    if (faults.schedule().cluster() == 1) faults.plant(mutants, "__syncthreads();", "");
    faults.plant(mutants, "thread - 128", "thread");
    if (faults.schedule().pdl == 0) continue;
    const std::string wait = "lehr_griddepcontrol_wait();";
    faults.plant(mutants, wait, "");
    faults.plant(mutants, wait, "if (thread < 128) " + wait);
    faults.plant(mutants, wait, "if (thread >= 128) " + wait);
    faults.plant(mutants, "lehr_griddepcontrol_launch_dependents();", "");
  }
  ASSERT_GE(mutants.size(), 30u);
  mutants.expect_each_to_be_found(kGemmWgmmaSeed);
}

TEST(GemmWgmmaSplit, NeedsEveryStepOfSumsThatAreAdded) {
  const std::vector<Case> cases = {
      {mma_of(DType::kBF16, 72, 136, 1096, 1, 2),
       "gemm_wgmma(swap_ab=0, bm=128, bn=96, k_atoms=1, consumers=2, ping_pong=0, persistent=0, "
       "cluster_bm=1, cluster_bn=1, split_k=3, reduce=2, keep=0, store=0, stmatrix=0, stages=3, "
       "in_flight=0, raster=1, pdl=0)"},
      {mma_of(DType::kBF16, 72, 136, 1096, 1, 2),
       "gemm_wgmma(swap_ab=1, bm=64, bn=80, k_atoms=1, consumers=1, ping_pong=0, persistent=0, "
       "cluster_bm=1, cluster_bn=1, split_k=4, reduce=2, keep=0, store=0, stmatrix=0, stages=2, "
       "in_flight=0, raster=1, pdl=1)"},
      {mma_of(DType::kS8, 72, 136, 1040, 1, 2),
       "gemm_wgmma(swap_ab=0, bm=128, bn=96, k_atoms=1, consumers=1, ping_pong=0, persistent=0, "
       "cluster_bm=1, cluster_bn=1, split_k=3, reduce=2, keep=0, store=0, stmatrix=0, stages=3, "
       "in_flight=0, raster=1, pdl=0)"},
  };
  Mutants mutants;
  for (const Case& one : cases) {
    const Faults faults(one);
    const bool is_float = one.workload.gemm().accum == DType::kF32;
    const std::string add = is_float ? "lehr_tma_reduce_add_f32(" : "lehr_tma_reduce_add_s32(";
    const std::string complete = "lehr_tma_store_wait_complete<0>();";
    const std::string nothing = is_float ? "split_part[z] = 0.0f" : "split_part[z] = 0";
    faults.plant(mutants, "lehr_async_proxy_fence();", "");
    faults.plant(mutants, "lehr_named_barrier(", "(void)(");
    if (faults.schedule().consumers > 1) faults.plant(mutants, "(consumer + 1)", "(1)");
    faults.plant(mutants, "lehr_elect_one(elected_2);", "elected_2[0] = 1;");
    faults.plant(mutants, add, "(void)(");
    faults.plant(mutants, "lehr_tma_store_commit();", "");
    faults.plant(mutants, complete, "");
    faults.plant(mutants, complete, "lehr_tma_store_wait<0>();");
    faults.plant(mutants, "lehr_device_fence();", "");
    faults.plant(mutants, nothing, nothing + " + 1");
    faults.plant(mutants, "place < ", "place + 1 < ");
    faults.plant(mutants, "__syncthreads();", "");
    faults.plant(mutants, "thread == 0) {\n          lehr_atomic", "thread < 2) {\n          lehr_atomic");
    if (!is_float) continue;
    faults.plant(mutants, "split % 2", "0");  // more than two parts share one place
    faults.plant(mutants, "from_split + 1", "from_split");
  }
  ASSERT_GE(mutants.size(), 46u);
  mutants.expect_each_to_be_found(kGemmWgmmaSeed);
}

TEST(GemmWgmmaSplit, NeedsEveryStepInACluster) {
  Mutants mutants;
  for (const char* const config :
       {"gemm_wgmma(swap_ab=1, bm=64, bn=80, k_atoms=1, consumers=1, ping_pong=0, persistent=0, "
        "cluster_bm=1, cluster_bn=1, split_k=4, reduce=1, keep=0, store=0, stmatrix=0, stages=2, "
        "in_flight=0, raster=1, pdl=0)",
        "gemm_wgmma(swap_ab=0, bm=128, bn=48, k_atoms=1, consumers=2, ping_pong=0, persistent=0, "
        "cluster_bm=1, cluster_bn=1, split_k=2, reduce=1, keep=0, store=0, stmatrix=0, stages=2, "
        "in_flight=0, raster=1, pdl=1)"}) {
    const Faults faults({mma_of(DType::kBF16, 72, 136, 1024, 1, 2), config});
    faults.plant(mutants, "lehr_cluster_barrier();", "");
    faults.plant(mutants, "lehr_cluster_barrier();", "__syncthreads();");
    faults.plant(mutants, "__syncthreads();", "");
    faults.plant(mutants, "lehr_cluster_load_16(", "(void)(");
    faults.plant(mutants, "from_split + 1", "from_split");
    faults.plant(mutants, "from_split + 1", "from_split + 2");
    faults.plant(mutants, "split == 0", "split == 1");
    faults.plant(mutants, "split * ", "0 * ");
  }
  ASSERT_GE(mutants.size(), 20u);
  mutants.expect_each_to_be_found(kGemmWgmmaSeed);
}

}  // namespace
}  // namespace lehr
