// Tests by the emulator that every barrier, wait, fence and bound of gemm_simt's emitted CUDA text is needed.
// emulated_families_test tests that it is right for all layouts and odd sizes, and moves what its analysis
// says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/emit.h"
#include "cuda_cases.h"
#include "cuda_mutants.h"
#include "target/cuda/archs.h"
#include "templates/family.h"
#include "templates/gemm/cuda/gemm_simt.h"
#include "templates/gemm/cuda/gemm_simt_space.h"
#include "tests/support/sample_config.h"

namespace lehr {
namespace {

using lehr::testing::gemm_of;
using lehr::testing::Mutants;
using lehr::testing::replace_all;

constexpr std::uint64_t kSeed = 7;
Source source_of(const Workload& workload, const char* text) {
  const Config config = parse_config(text);
  EXPECT_EQ(gemm_simt_template().space(workload, cuda_limits("sm_80")).why_invalid(config), std::nullopt);
  return emit(testing::lowered(gemm_simt_template(), workload, config, cuda_limits("sm_80")));
}

TEST(GemmSimtEmulated, NeedsEveryBarrierWaitAndBound) {
  const Workload workload = gemm_of(50, 70, 45, 1, 0);
  Mutants mutants;
  for (const char* text :
       {"gemm_simt(bm=32, bn=32, tm=4, tn=4, lanes_m=4, bk=8, split_k=1, async=0, stages=1, k_major=0, "
        "vec_a=1, vec_b=2, pad=4, min_blocks=1, frag_buffers=1, unroll=8, raster=1, staged=0)",
        "gemm_simt(bm=32, bn=32, tm=4, tn=4, lanes_m=4, bk=8, split_k=1, async=0, stages=2, k_major=0, "
        "vec_a=1, vec_b=2, pad=4, min_blocks=1, frag_buffers=2, unroll=8, raster=2, staged=1)",
        "gemm_simt(bm=32, bn=32, tm=4, tn=4, lanes_m=4, bk=8, split_k=1, async=1, stages=3, k_major=0, "
        "vec_a=1, vec_b=2, pad=0, min_blocks=1, frag_buffers=1, unroll=4, raster=1, staged=0)",
        "gemm_simt(bm=32, bn=32, tm=4, tn=4, lanes_m=4, bk=8, split_k=1, async=1, stages=3, k_major=1, "
        "vec_a=1, vec_b=2, pad=4, min_blocks=1, frag_buffers=1, unroll=4, raster=1, staged=1)"}) {
    const Source source = source_of(workload, text);
    mutants.add(source, workload, "extern \"C\"", "__syncthreads();", "");
    mutants.add(source, workload, "extern \"C\"", "__syncwarp();", "");
    // Loads of the first tiles stay inside whatever their bounds say; the last tile's are in the loop.
    const std::string loop = "for (int tile";
    mutants.add(source, workload, loop, "lehr_cp_async_wait<1>();", "");
    mutants.add(source, workload, loop, "< 70", "< 71");
    mutants.add(source, workload, loop, "< 50", "< 51");
    // The first tile holds 45 % 8 of k; where only one operand has one more, the other's zeros hide it.
    Source one_more = source;
    EXPECT_EQ(replace_all(one_more.text, " < 5 ?", " < 6 ?"), 2);
    mutants.add(std::move(one_more), workload);
  }
  ASSERT_GE(mutants.size(), 33u);
  mutants.expect_each_to_be_found(kSeed);
}

TEST(GemmSimtEmulated, BlocksThatSplitKNeedEveryBarrierFenceAndSlot) {
  const Workload workload = gemm_of(40, 30, 1056, 2, 0);
  Mutants mutants;
  for (const char* text :
       {"gemm_simt(bm=32, bn=32, tm=4, tn=4, lanes_m=4, bk=16, split_k=4, async=0, stages=2, k_major=0, "
        "vec_a=1, vec_b=2, pad=4, min_blocks=1, frag_buffers=2, unroll=8, raster=1, staged=0)",
        "gemm_simt(bm=32, bn=32, tm=4, tn=4, lanes_m=4, bk=32, split_k=2, async=1, stages=3, k_major=1, "
        "vec_a=1, vec_b=2, pad=4, min_blocks=1, frag_buffers=1, unroll=4, raster=1, staged=0)"}) {
    const Source source = source_of(workload, text);
    mutants.add(source, workload, "extern \"C\"", "__syncthreads();", "");
    mutants.add_those_of_split_k(source, workload);
  }
  mutants.expect_each_to_be_found(kSeed);
}

}  // namespace
}  // namespace lehr
