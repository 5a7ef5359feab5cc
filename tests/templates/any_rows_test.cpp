// Tests of kernels that take the number of rows: right for every number, with memory that ends behind the
// last row, and with only the most rows in their text.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "codegen/emit.h"
#include "codegen/source_hash.h"
#include "cpu_problems.h"
#include "cpu_runs.h"
#include "ir/analyze.h"
#include "templates/catalog.h"
#include "tests/support/sample_config.h"
#include "tests/support/verify.h"

namespace lehr {
namespace {

using lehr::testing::cpu_limits;
using lehr::testing::expect_right;
using lehr::testing::fused;
using lehr::testing::sample_config;

TEST(AnyRows, ProductsOfF32AreRightForEveryNumber) {
  expect_right({"gemm m=..70 n=37 k=29", "gemm m=..64 n=48 k=16 b=f32:row:constant",
                "gemm m=..9 n=5 k=33 b=f32:column:constant", "gemm m=..300 n=19 k=40"},
               3, 1);
  expect_right({"gemm m=..70 n=24 k=17 b=f32:column", "gemm m=..3 n=9 k=100 b=f32:column",
                "gemm m=..1 n=40 k=8", "gemm m=..200 n=3 k=21 b=f32:column"},
               3, 2);
}

TEST(AnyRows, EpiloguesReadTheRowsThatThereAre) {
  expect_right({"gemm m=..70 n=21 k=19 epilogue=bias+residual+relu",
                "gemm m=..70 n=22 k=19 b=f32:row:constant epilogue=bias+swiglu",
                "gemm m=..90 n=16 k=40 b=f32:column epilogue=scale_shift+residual+gelu alpha=0.5"},
               3, 3);
}

TEST(AnyRows, NarrowTypesAreRightForEveryNumber) {
  expect_right({"gemm m=..70 n=37 k=30 a=bf16 b=bf16:row:constant c=f32",
                "gemm m=..70 n=24 k=31 a=bf16 b=bf16 c=bf16 epilogue=bias+residual+relu",
                "gemm m=..100 n=21 k=34 a=u8 b=s8:row:constant c=s32 accum=s32",
                "gemm m=..70 n=19 k=35 a=s8 b=s7:column:constant c=u8 accum=s32 zero=input "
                "epilogue=bias+dequant+residual(u8)+relu+quant"},
               3, 4);
}

// The sizes are random.
TEST(AnyRows, OrdinaryProductsAreRight) {
  const std::uint64_t seed = 20261128;
  Rng rng(seed);
  const auto size = [&](std::uint64_t most) { return 1 + rng.below(most); };
  std::vector<std::string> texts;
  for (int i = 0; i < 6; ++i)
    texts.push_back(fmt::format("gemm m=..{} n={} k={} b=f32:{}", size(150), size(90), size(120),
                                std::vector<const char*>{"row", "column", "row:constant"}[rng.below(3)]));
  expect_right(texts, 1, seed);
}

/// Returns workloads of these sizes with each type and layout, and with each step of an epilogue that goes
/// with it.
std::vector<Workload> of_all_epilogues(const std::string& sizes) {
  std::vector<Workload> workloads;
  for (const EpilogueRow& row : kEpilogueRows) {
    if (row.pooled != nullptr) continue;
    const std::size_t before = workloads.size();
    for (const char* types : {"b=f32:column alpha=0.5", "b=f32:row:constant", "a=bf16 b=bf16 c=bf16",
                              "a=bf16 b=bf16:column:constant c=f32", "a=u8 b=s8:row:constant accum=s32 c=f32",
                              "a=s8 b=s7:column:constant c=u8 accum=s32 zero=input"})
      for (const char* steps : {"bias+{}", "{}", "dequant+{}", "dequant+{}+quant"}) {
        const std::string epilogue = fmt::format(fmt::runtime(steps), example_of(row));
        try {
          workloads.push_back(parse_workload(fmt::format("gemm {} {} epilogue={}", sizes, types, epilogue)));
        } catch (const Error&) {  // not every step goes with every type
        }
      }
    EXPECT_GT(workloads.size(), before) << row.name;
  }
  return workloads;
}

// A residual has as many rows as the call. A comment of the text once had that number, so export left such
// kernels out.
TEST(AnyRows, TheTextKnowsTheMostRowsAlone) {
  const Limits limits = cpu_limits(32, 2);
  Rng rng(5);
  std::vector<Workload> workloads = of_all_epilogues("m=..512 n=300 k=200");
  for (const char* layout : {"b=f32:column", "b=f32:row"})
    workloads.push_back(parse_workload(fmt::format("gemm m=..512 n=300 k=200 {}", layout)));
  for (const Workload& most : workloads) {
    Workload few = most;
    few.gemm().rows = 24;
    EXPECT_EQ(of_any_call(few), most);
    const KernelSpace kernels = kernel_space(most, limits);
    for (const FamilySpace& family : kernels.space.families())
      for (int i = 0; i < 4; ++i) {
        const Config config = *sample_config(family, rng);
        const ir::Kernel of_most = lower(most, config, limits), of_few = lower(few, config, limits);
        SCOPED_TRACE(to_text(most) + ": " + to_text(config));
        EXPECT_EQ(ir::why_malformed(of_most), std::nullopt);
        EXPECT_EQ(ir::why_malformed(of_few), std::nullopt);
        const Source text = emit(of_most);
        EXPECT_EQ(text.text, emit(of_few).text);
        EXPECT_EQ(hash_of(text), hash_of(emit(of_few)));
        EXPECT_LT(ir::analyze(of_few).flops, 0.2 * ir::analyze(of_most).flops)
            << "analysis sees the call's rows";
      }
  }
}

TEST(AnyRows, OtherFamiliesRefuse) {
  const Limits limits = cpu_limits(32, 2);
  const auto reason = [&](const char* family, const char* text) {
    return why_unserved(template_named(family), parse_workload(text), limits).value_or("");
  };
  EXPECT_EQ(reason("gemv_cpu", "gemm m=..8 n=4 k=4"), "its kernels are for a fixed number of rows");
  EXPECT_EQ(reason("gemm_cpu", "gemm m=..8 n=4 k=4 rows=3"), "");
  EXPECT_EQ(reason("gemm_cpu", "gemm m=1..8 n=4 k=4"),
            "a range of rows is covered by a set of kernels, not by one");
}

}  // namespace
}  // namespace lehr
