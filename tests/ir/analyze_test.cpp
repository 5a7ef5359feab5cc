// Holds the analysis of hand-written kernels against a brute-force count, and against numbers worked out on
// paper.
#include "ir/analyze.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/ir/against_oracle.h"
#include "tests/ir/sample_kernels.h"

namespace lehr::ir {
namespace {

using lehr::testing::expect_exact;

// Returns the n-th access to the buffer of that name.
const Access& access_to(const Kernel& kernel, const Analysis& analysis, const char* name, int n = 0) {
  for (const Access& access : analysis.accesses)
    if (kernel.buffer(access.buffer).name == name && n-- == 0) return access;
  throw Error(ErrorKind::kNotFound, name);
}

TEST(Analyze, AgreesWithTheOracleOnTheCpuGemm) {
  expect_exact(lehr::testing::cpu_gemm());
}
TEST(Analyze, AgreesWithTheOracleOnTheCudaGemm) {
  expect_exact(lehr::testing::cuda_gemm());
}

TEST(Analyze, CountsTheCpuGemmAsOnPaper) {
  const Analysis analysis = analyze(lehr::testing::cpu_gemm());
  EXPECT_EQ(analysis.flops, 2.0 * 12 * 32 * 20);
  EXPECT_EQ(analysis.unique_global_bytes, 4.0 * (12 * 20 + 20 * 32 + 12 * 32));
  // B is packed once per row tile, A is read once per column tile and again for each of its two vectors of
  // columns.
  EXPECT_EQ(analysis.global.read_bytes, 4.0 * (2 * 20 * 32 + 12 * 20 * 2 * 2));
  EXPECT_EQ(analysis.global.written_bytes, 4.0 * 12 * 32);
  EXPECT_EQ(analysis.register_bytes, 4 * 6 * 16);
  EXPECT_EQ(analysis.scratch_bytes, 4 * 20 * 16);
  EXPECT_EQ(analysis.shared_bytes, 0);
  EXPECT_EQ(analysis.launch.work_items, 2);
  EXPECT_EQ(analysis.pipeline_depth, 0);
}

TEST(Analyze, DescribesTheLoopsOfTheCpuGemm) {
  const Analysis analysis = analyze(lehr::testing::cpu_gemm());
  ASSERT_EQ(analysis.loops.size(), 11u);
  const LoopInfo& t = analysis.loops[0];
  EXPECT_EQ(t.kind, LoopKind::kParallel);
  EXPECT_EQ(t.parent, -1);
  EXPECT_EQ(t.flops, analysis.flops);
  const LoopInfo& k = analysis.loops[6];
  EXPECT_EQ(k.extent, 20);
  EXPECT_EQ(k.depth, 2);
  EXPECT_EQ(k.parent, 1);
  EXPECT_EQ(k.iterations, 2.0 * 2 * 20);
  EXPECT_EQ(k.flops, analysis.flops) << "all multiplications are inside";
  EXPECT_EQ(analysis.loops[2].flops, 0) << "packing multiplies nothing";
}

TEST(Analyze, GivesStridesThroughLetsAndFootprintsPerLevel) {
  const Kernel kernel = lehr::testing::cpu_gemm();
  const Analysis analysis = analyze(kernel);
  const Access& a = access_to(kernel, analysis, "a");  // a[(t*6+i)*20+k] under t, no, k, i, j
  EXPECT_EQ(a.strides, (std::vector<std::int64_t>{120, 0, 1, 20, 0}));
  EXPECT_EQ(a.footprint, (std::vector<double>{240, 120, 120, 6, 1}));
  EXPECT_EQ(a.executions, 2.0 * 2 * 20 * 6 * 2);
  const Access& panel = access_to(kernel, analysis, "panel", 1);  // panel[k*16+j*8 : 8]
  EXPECT_FALSE(panel.writes);
  EXPECT_EQ(panel.lanes, 8);
  EXPECT_EQ(panel.footprint, (std::vector<double>{320, 320, 320, 16, 16}));
}

TEST(Analyze, CountsTheCudaGemmAsOnPaper) {
  const Kernel kernel = lehr::testing::cuda_gemm();
  const Analysis analysis = analyze(kernel);
  EXPECT_EQ(analysis.flops, 2.0 * 64 * 64 * 32);
  EXPECT_EQ(analysis.unique_global_bytes, 4.0 * (64 * 32 + 32 * 64 + 64 * 64));
  EXPECT_EQ(analysis.global.read_bytes, 4.0 * 2 * (64 * 32 + 32 * 64))
      << "each operand once per block of the other side";
  EXPECT_EQ(analysis.shared.written_bytes, analysis.global.read_bytes);
  EXPECT_EQ(analysis.barriers, 8) << "two in each of four steps";
  EXPECT_EQ(analysis.launch.block[0], 64);
  EXPECT_EQ(analysis.shared_bytes, 2048);
  EXPECT_EQ(analysis.pipeline_depth, 1);
  EXPECT_EQ(analysis.integer_divisions, 0) << "2 and 8 are powers of two";
}

TEST(Analyze, SeesTheTileBehindDividedThreadIndices) {
  const Kernel kernel = lehr::testing::cuda_gemm();
  const Access copy = access_to(kernel, analyze(kernel), "b");  // under by, bx, tx, ko
  EXPECT_TRUE(copy.asynchronous);
  EXPECT_EQ(copy.strides, (std::vector<std::int64_t>{0, 32, 4, 8 * 64}));
  // One row chunk per step; 32 rows of 4; of all threads 32 x 32; of both column blocks 32 x 64.
  EXPECT_EQ(copy.footprint, (std::vector<double>{2048, 2048, 1024, 16}));
}

// Two-dimensional convolution of one channel: overlapping windows.
TEST(Analyze, CountsOverlappingWindowsOnce) {
  KernelBuilder b;
  const BufferId in = b.param("in", DType::kF32, 34 * 34, Direction::kIn);
  const BufferId out = b.param("out", DType::kF32, 32 * 32, Direction::kOut);
  const VarId y = b.var("y"), x = b.var("x"), r = b.var("r"), s = b.var("s");
  Stmt body =
      Store{out, var(y) * 32 + var(x),
            load(in, (var(y) + var(r)) * 34 + var(x) + var(s)) * Float{0.5, DType::kF32}, 1, std::nullopt};
  b.kernel.name = "conv";
  b.kernel.body = block(loop(
      y, 32, LoopKind::kSerial,
      block(loop(x, 32, LoopKind::kSerial,
                 block(loop(r, 3, LoopKind::kSerial, block(loop(s, 3, LoopKind::kSerial, block(body)))))))));
  expect_exact(b.kernel);
  EXPECT_EQ(access_to(b.kernel, analyze(b.kernel), "in").footprint,
            (std::vector<double>{34 * 34, 3 * 34, 9, 3}));
}

TEST(Analyze, MarksWhatIsGuardedAndCountsItInFull) {
  KernelBuilder b;
  b.kernel.name = "guards";
  const BufferId x = b.param("x", DType::kF32, 100, Direction::kIn);
  const BufferId y = b.param("y", DType::kF32, 100, Direction::kOut);
  const VarId i = b.var("i"), j = b.var("j");
  const Expr chosen = select(lt(var(i), integer(3)), load(x, var(i)), Float{0, DType::kF32});
  b.kernel.body =
      block(loop(i, 12, LoopKind::kSerial,
                 block(Store{y, var(i), chosen, 1, std::nullopt},
                       If{lt(var(i), integer(5)),
                          block(Store{y, var(i), load(x, var(i)) + load(x, var(i) + 1), 1, std::nullopt}),
                          block(Store{y, var(i), zero(DType::kF32), 1, std::nullopt})},
                       loop_to(j, min(integer(8), integer(100) - var(i) * 8), 8,
                               block(Store{y, var(j), load(x, var(j)), 1, std::nullopt})),
                       Store{y, var(i) * 8, load_active(x, var(i) * 8, 8, integer(100) - var(i) * 8), 8,
                             integer(100) - var(i) * 8})));
  const Analysis analysis = analyze(b.kernel);
  std::vector<bool> guarded;
  for (const Access& access : analysis.accesses) guarded.push_back(access.guarded);
  EXPECT_EQ(guarded, (std::vector<bool>{false, true, true, true, true, true, false, false, true, true}));
  EXPECT_EQ(analysis.flops, 12) << "the addition, although guarded; no comparison, no index arithmetic";
  EXPECT_EQ(analysis.guards, 12 * 4);
  expect_exact(b.kernel);
}

TEST(Analyze, TakesBothSidesOfAMaskAsExecuted) {
  KernelBuilder b;
  b.kernel.name = "masks";
  const BufferId x = b.param("x", DType::kF32, 100, Direction::kIn);
  const BufferId y = b.param("y", DType::kF32, 100, Direction::kOut);
  const VarId i = b.var("i");
  const Expr v = load(x, var(i) * 8, 8);
  const Expr chosen = select(lt(v, splat(Float{0}, 8)), v + v, load(x, integer(90), 8));
  b.kernel.body = block(
      loop(i, 12, LoopKind::kSerial, block(Store{y, var(i) * 8, max(chosen, v), 8, std::nullopt, true})));
  const Analysis analysis = analyze(b.kernel);
  for (const Access& access : analysis.accesses) EXPECT_FALSE(access.guarded);
  EXPECT_EQ(analysis.guards, 0);
  EXPECT_EQ(analysis.flops, 12 * 16);
  EXPECT_EQ(analysis.global.written_bytes, 12 * 32) << "past the caches or not";
  expect_exact(b.kernel);
}

// Tiles that reach over the edge of a matrix copy zero bytes from there. This was found where the emulator
// counted fewer bytes than the unguarded accesses add up to.
TEST(Analyze, TakesTheSourceOfACopyOfSomeBytesAsGuarded) {
  KernelBuilder b;
  b.kernel.name = "copies";
  b.kernel.target = Target::kCuda;
  const BufferId x = b.param("x", DType::kF32, 100, Direction::kIn);
  const BufferId tile = b.buffer("tile", DType::kF32, Scope::kShared, 128);
  const VarId t = b.var("t");
  const std::vector<Touch> touches = {{tile, var(t) * 4, 4, true}, {x, var(t) * 4, 4, false}};
  const Expr bytes = select(lt(var(t), integer(25)), integer(16), integer(0));
  b.kernel.body = block(loop(
      t, 32, LoopKind::kThreadX,
      block(Intrinsic{"cp_async_16", touches, {}, 0}, Intrinsic{"cp_async_16", touches, {integer(16)}, 0},
            Intrinsic{"cp_async_16", touches, {bytes}, 0})));
  std::vector<bool> guarded;
  for (const Access& access : analyze(b.kernel).accesses) guarded.push_back(access.guarded);
  EXPECT_EQ(guarded, (std::vector<bool>{false, false, false, false, false, true}));
}

TEST(Analyze, CountsEveryKindOfArithmeticOnData) {
  KernelBuilder b;
  b.kernel.name = "arithmetic";
  const BufferId x = b.param("x", DType::kF32, 64, Direction::kIn);
  const BufferId n = b.param("n", DType::kS8, 64, Direction::kIn);
  const BufferId y = b.param("y", DType::kF32, 64, Direction::kOut);
  const auto flops = [&](Expr value, int lanes) {
    b.kernel.body = block(Store{y, integer(0), std::move(value), lanes, std::nullopt});
    return analyze(b.kernel).flops;
  };
  const Expr v = load(x, integer(0), 8);
  EXPECT_EQ(flops(v, 8), 0);
  EXPECT_EQ(flops(fma(v, v, v), 8), 16);
  EXPECT_EQ(flops(v + v, 8), 8);
  EXPECT_EQ(flops(v - v * v, 8), 16);
  EXPECT_EQ(flops(max(v, splat(Float{0, DType::kF32}, 8)), 8), 8);
  EXPECT_EQ(flops(reduce_add(v), 1), 7);
  EXPECT_EQ(flops(reduce_max(v), 1), 7);
  EXPECT_EQ(flops(unary(UnaryOp::kTanh, v) + v, 8), 8 * (flops_of(UnaryOp::kTanh) + 1));
  EXPECT_EQ(flops(load(n, integer(0)) * load(n, integer(1)), 1), 1) << "integer data counts as well";
  EXPECT_EQ(flops(select(lt(load(x, integer(0)), load(x, integer(1))), v, v), 8), 0) << "comparing is free";
  b.kernel.body = block(Intrinsic{"prefetch", {}, {}, 512});
  EXPECT_EQ(analyze(b.kernel).flops, 512);
}

TEST(Analyze, CountsDivisionsThatNoShiftReplaces) {
  KernelBuilder b;
  b.kernel.name = "divisions";
  const BufferId x = b.param("x", DType::kF32, 1000, Direction::kIn);
  const BufferId y = b.param("y", DType::kF32, 1000, Direction::kOut);
  const VarId i = b.var("i"), q = b.var("q");
  b.kernel.body =
      block(loop(i, 20, LoopKind::kSerial,
                 block(Let{q, var(i) / 7}, Store{y, var(q) * 8 + var(i) % 5, load(x, var(i) / 4 + var(i) % 8),
                                                 1, std::nullopt})));
  EXPECT_EQ(analyze(b.kernel).integer_divisions, 20 * 2);
  EXPECT_EQ(analyze(b.kernel).integer_operations, 20 * (1 + 3 + 3));
}

TEST(Analyze, CountsAnActiveCountAsAnIndexOfTheSameForm) {
  KernelBuilder b;
  b.kernel.name = "active";
  const BufferId n = b.param("n", DType::kS32, 16, Direction::kIn);
  const BufferId y = b.param("y", DType::kF32, 1000, Direction::kOut);
  const VarId i = b.var("i"), q = b.var("q");
  const Expr sum = select(lt(var(q), integer(3)), load(n, var(q)) % 6, min(var(i) * 4, var(q) / 5)) + var(i);
  const auto analysis_of = [&](Expr index, std::optional<Expr> active) {
    b.kernel.body = block(loop(i, 20, LoopKind::kSerial,
                               block(Let{q, var(i) / 2}, Store{y, index, Float{1, DType::kF32}, 1, active})));
    return analyze(b.kernel);
  };
  const Analysis as_index = analysis_of(sum, std::nullopt), as_count = analysis_of(integer(0), sum);
  EXPECT_EQ(as_count.integer_operations, 20 * (1 + 7));
  EXPECT_EQ(as_count.integer_divisions, 20 * 2);
  EXPECT_EQ(as_index.integer_operations, as_count.integer_operations);
  EXPECT_EQ(as_index.integer_divisions, as_count.integer_divisions);
  ASSERT_EQ(as_count.accesses.size(), 2u);
  EXPECT_EQ(as_count.accesses[1].buffer, n);
  EXPECT_EQ(as_count.accesses[1].moves_with, 1u);
}

TEST(Analyze, ReadsALetThatNamesALoopAndStillStaysTheSame) {
  KernelBuilder b;
  b.kernel.name = "constant_let";
  const BufferId x = b.param("x", DType::kF32, 100, Direction::kIn);
  const BufferId y = b.param("y", DType::kF32, 100, Direction::kOut);
  const VarId i = b.var("i"), q = b.var("q");
  // q is 0 for all i, which only its value shows.
  b.kernel.body =
      block(loop(i, 8, LoopKind::kSerial,
                 block(Let{q, var(i) / 8},
                       Store{y, var(i), load(x, min(var(q), integer(3)) + var(i)), 1, std::nullopt})));
  const Analysis analysis = analyze(b.kernel);
  ASSERT_EQ(analysis.accesses.size(), 2u);
  EXPECT_EQ(analysis.accesses[1].strides, (std::vector<std::int64_t>{1}));
  EXPECT_EQ(analysis.accesses[1].footprint[0], 8);
}

TEST(Analyze, TakesGathersAsIndexZeroAndStillCountsTheirLoads) {
  KernelBuilder b;
  b.kernel.name = "gather";
  const BufferId rows = b.param("rows", DType::kS32, 16, Direction::kIn);
  const BufferId x = b.param("x", DType::kF32, 160, Direction::kIn);
  const BufferId y = b.param("y", DType::kF32, 160, Direction::kOut);
  const VarId i = b.var("i"), j = b.var("j");
  b.kernel.body =
      block(loop(i, 16, LoopKind::kSerial,
                 block(loop(j, 10, LoopKind::kSerial,
                            block(Store{y, var(i) * 10 + var(j), load(x, load(rows, var(i)) * 10 + var(j)), 1,
                                        std::nullopt})))));
  const Analysis analysis = analyze(b.kernel);
  ASSERT_EQ(analysis.accesses.size(), 3u);
  EXPECT_EQ(analysis.accesses[1].strides, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(analysis.accesses[2].buffer, rows);
  EXPECT_EQ(analysis.accesses[2].strides, (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(analysis.accesses[2].footprint, (std::vector<double>{16, 1}));
  expect_exact(b.kernel);
}

TEST(Analyze, SeesThroughSwizzledTiles) {
  KernelBuilder b;
  b.kernel.name = "swizzle";
  b.kernel.target = Target::kCuda;
  const BufferId tile = b.param("tile", DType::kF16, 32 * 64, Direction::kOut);
  const VarId tx = b.var("tx"), step = b.var("step");
  const Expr row = var(step) * 16 + var(tx) / 8;
  const Expr chunk = bit_xor(var(tx) % 8, row % 8);
  b.kernel.body = block(
      loop(tx, 128, LoopKind::kThreadX,
           block(loop(step, 2, LoopKind::kSerial,
                      block(Store{tile, row * 64 + chunk * 8, zero(DType::kF16, 8), 8, std::nullopt})))));
  const Analysis analysis = analyze(b.kernel);
  EXPECT_EQ(analysis.accesses[0].footprint[0], 2048);
  EXPECT_EQ(analysis.accesses[0].footprint[1], 16);
}

TEST(Analyze, AddsUpTheDistinctBytesOfSeparateAccesses) {
  KernelBuilder b;
  b.kernel.name = "halves";
  const BufferId x = b.param("x", DType::kF32, 1000, Direction::kIn);
  const BufferId y = b.param("y", DType::kF32, 100, Direction::kOut);
  const VarId i = b.var("i");
  b.kernel.body = block(loop(
      i, 100, LoopKind::kSerial,
      block(Store{y, var(i), load(x, var(i)) + load(x, var(i) + 500) + load(x, var(i)), 1, std::nullopt})));
  EXPECT_EQ(analyze(b.kernel).unique_global_bytes, 4.0 * (100 + 200)) << "x's first hundred counts once";
}

TEST(Analyze, OfAnEmptyKernelIsEmpty) {
  const Analysis analysis = analyze(Kernel{});
  EXPECT_TRUE(analysis.loops.empty());
  EXPECT_TRUE(analysis.accesses.empty());
  EXPECT_EQ(analysis.flops, 0);
  EXPECT_EQ(analysis.unique_global_bytes, 0);
}

TEST(Analyze, RefusesLoopsNestedBeyondItsLimit) {
  KernelBuilder b;
  Block body;
  for (int depth = 0; depth < 25; ++depth) {
    const VarId v = b.var("v");
    Block outer = block(loop(v, 1, LoopKind::kSerial, std::move(body)));
    body = std::move(outer);
  }
  b.kernel.body = std::move(body);
  EXPECT_THROW(analyze(b.kernel), Error);
}

}  // namespace
}  // namespace lehr::ir
