// Tests of kernels that take the number of rows as an argument: analysis, text, and kernels that are refused.
#include <gtest/gtest.h>

#include "ir/analyze.h"
#include "ir/print.h"
#include "tests/ir/against_oracle.h"
#include "tests/support/verify.h"

namespace lehr::ir {
namespace {

/// Returns a kernel c[i] = a[i] for each row of the call, in tiles of two rows, the last of which may have
/// one.
Kernel copy_of_rows(std::int64_t most, std::int64_t usual) {
  KernelBuilder builder;
  builder.kernel.name = "copy";
  builder.kernel.target = Target::kCpu;
  const BufferId a = builder.param("a", DType::kF32, most, Direction::kIn);
  const BufferId c = builder.param("c", DType::kF32, most, Direction::kOut);
  const VarId work_item = builder.var("part"), tile = builder.var("tile"), i = builder.var("i"),
              rows = builder.var("rows");
  builder.kernel.rows = Rows{rows, most, usual};
  const Expr row = min(var(tile) * 2 + var(i), var(rows) - 1);
  const Stmt copy = Store{c, row, load(a, row), 1, std::nullopt};
  const Stmt tiles = loop_to(tile, (var(rows) + 1) / 2, (usual + 1) / 2,
                             block(loop(i, 2, LoopKind::kUnrolled, block(copy))));
  builder.kernel.body = block(loop(work_item, 1, LoopKind::kParallel, block(tiles)));
  return std::move(builder.kernel);
}

TEST(Rows, AreTheUsualOnesToAnalysis) {
  for (const std::int64_t usual : {1, 4, 12, 40}) {
    const Kernel kernel = copy_of_rows(40, usual);
    ASSERT_EQ(why_malformed(kernel), std::nullopt);
    const Analysis analysis = analyze(kernel);
    lehr::testing::expect_exact_but_footprints(kernel, analysis, lehr::testing::count(kernel));
    EXPECT_EQ(analysis.global.written_bytes, 4.0 * 2 * ((usual + 1) / 2)) << usual;
  }
}

TEST(Rows, AreShownWithTheMost) {
  EXPECT_EQ(to_text(copy_of_rows(40, 3)).substr(0, 78),
            "kernel copy target=cpu params(in a: f32[40], out c: f32[40]) rows<=40\nparallel");
}

TEST(Rows, AreFromOneToTheMostAndOnACpu) {
  EXPECT_EQ(why_malformed(copy_of_rows(4, 5)), "in kernel copy: 5 rows are usual, of 4 at most");
  EXPECT_EQ(why_malformed(copy_of_rows(4, 0)), "in kernel copy: 0 rows are usual, of 4 at most");
  Kernel unnamed = copy_of_rows(4, 4);
  unnamed.rows.reset();
  EXPECT_NE(why_malformed(unnamed), std::nullopt) << "nothing binds the number";
}

}  // namespace
}  // namespace lehr::ir
