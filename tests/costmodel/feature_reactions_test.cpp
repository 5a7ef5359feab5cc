// Tests that planted changes of a kernel move the columns that should see them, in the right direction or to
// an exact value.
#include <gtest/gtest.h>

#include <cmath>

#include "target/cuda/archs.h"
#include "tests/costmodel/kernels.h"

namespace lehr {
namespace {

using namespace lehr::ir;  // NOLINT
using test::CpuGemm;
using test::CudaGemm;
using test::feature;
using test::unlog;

TEST(CpuFeatures, FlopsAndUniqueBytesOfAGemmAreExact) {
  const auto row = featurize(test::cpu_gemm({}), test::cpu_test_limits());
  EXPECT_NEAR(unlog(feature(row, "flops")), 2.0 * 512 * 512 * 512, 1e3);
  EXPECT_NEAR(unlog(feature(row, "unique_bytes")), 3.0 * 512 * 512 * 4, 10);
  EXPECT_EQ(feature(row, "arithmetic_lanes"), 16);
}

/// Returns a kernel of 100 steps. Each adds to 16 sums the products of `group` neighbours, which come in one
/// vector.
Kernel dot_kernel(DType first, DType second, DType sums, int group) {
  KernelBuilder b;
  b.kernel.name = "dot";
  b.kernel.target = Target::kCpu;
  const int lanes = 16 * group;
  const BufferId a = b.param("A", first, 100 * group, Direction::kIn);
  const BufferId w = b.param("B", second, 100 * lanes, Direction::kIn);
  const BufferId c = b.param("C", sums, 16, Direction::kOut);
  const BufferId acc = b.buffer("acc", sums, Scope::kRegister, 16, 16);
  const VarId k = b.var("k");
  Stmt step = Store{acc,
                    integer(0),
                    fma(splat(load(a, var(k) * group, group), lanes), load(w, var(k) * lanes, lanes),
                        load(acc, integer(0), 16)),
                    16,
                    {}};
  b.kernel.body = block(Alloc{acc}, Store{acc, integer(0), zero(sums, 16), 16, {}},
                        loop(k, 100, LoopKind::kSerial, block(std::move(step))),
                        Store{c, integer(0), load(acc, integer(0), 16), 16, {}});
  return b.kernel;
}

// Products of neighbours are one instruction a vector, and so many more operations.
TEST(CpuFeatures, AVectorOfNarrowProductsIsOneInstruction) {
  const Limits limits = test::cpu_test_limits();
  const auto f32 = featurize(dot_kernel(DType::kF32, DType::kF32, DType::kF32, 1), limits);
  struct Case {
    DType first, second, sums;
    int group;
    float lanes, gain;
  };
  for (const Case& one : {Case{DType::kBF16, DType::kBF16, DType::kF32, 2, 16, 1},
                          Case{DType::kU8, DType::kS8, DType::kS32, 4, 16, 2},
                          Case{DType::kS16, DType::kS16, DType::kS32, 2, 16, 1},
                          Case{DType::kF32, DType::kBF16, DType::kF32, 2, 32, 0}}) {
    SCOPED_TRACE(name_of(one.first));
    const auto row = featurize(dot_kernel(one.first, one.second, one.sums, one.group), limits);
    EXPECT_FLOAT_EQ(feature(row, "arithmetic_lanes"), one.lanes);
    EXPECT_EQ(feature(row, "arithmetic_instructions"), feature(f32, "arithmetic_instructions"));
    EXPECT_EQ(feature(row, "tensor_gain"), one.gain);
    EXPECT_NEAR(unlog(feature(row, "flops")), one.group * unlog(feature(f32, "flops")), 1);
  }
  EXPECT_EQ(feature(f32, "tensor_gain"), 0);
}

TEST(CpuFeatures, LargerRegisterTilesNeedFewerMemoryInstructionsPerFlop) {
  const Limits limits = test::cpu_test_limits();
  CpuGemm small, large;
  small.mr = 2;
  small.nv = 1;
  large.mr = 8;
  large.nv = 2;
  EXPECT_GT(feature(test::cpu_gemm(large), limits, "flops_per_memory_instruction"),
            feature(test::cpu_gemm(small), limits, "flops_per_memory_instruction") + 0.5);
  EXPECT_GT(feature(test::cpu_gemm(large), limits, "register_pressure"),
            feature(test::cpu_gemm(small), limits, "register_pressure"));
}

TEST(CpuFeatures, RegisterPressureIsVectorRegistersWantedOverAvailable) {
  CpuGemm s;
  s.mr = 16;
  s.nv = 4;
  EXPECT_FLOAT_EQ(feature(test::cpu_gemm(s), test::cpu_test_limits(), "register_pressure"), 64.0f / 32.0f);
}

TEST(CpuFeatures, ACacheTileThatFitsLowersTheTrafficFromBeyondThatCache) {
  const Limits limits = test::cpu_test_limits();
  CpuGemm fits, overflows;  // 2048^3: nothing fits into L2 as a whole
  fits.m = fits.n = fits.k = overflows.m = overflows.n = overflows.k = 2048;
  fits.mb = 128;
  fits.nb = 256;
  fits.kb = 256;
  overflows.mb = 128;
  overflows.nb = 2048;
  overflows.kb = 2048;
  EXPECT_LT(feature(test::cpu_gemm(fits), limits, "l2_traffic") + 1,
            feature(test::cpu_gemm(overflows), limits, "l2_traffic"));
}

TEST(CpuFeatures, AWorkingSetInsideTheLastLevelIsFetchedOnce) {
  // 3 MB in a 32 MB cache: every byte comes once, C also goes back once.
  const auto row = featurize(test::cpu_gemm({}), test::cpu_test_limits());
  EXPECT_NEAR(unlog(feature(row, "llc_traffic")), 4.0 * 512 * 512 * 4, 4096);
  EXPECT_EQ(feature(row, "llc_overflow"), 0);
}

TEST(CpuFeatures, TrafficFallsAsTheCacheGrows) {
  double last = 1e30;
  for (const std::int64_t kilobytes : {8, 32, 128, 512, 4096}) {
    Limits limits = test::cpu_test_limits();
    limits.l1_bytes = kilobytes << 10;
    const double traffic = feature(test::cpu_gemm({}), limits, "l1_traffic");
    EXPECT_LE(traffic, last) << kilobytes;
    last = traffic;
  }
}

TEST(CpuFeatures, UnevenTasksLeaveCoresIdle) {
  CpuGemm even, uneven;  // 8 and 5 work items on 4 cores
  even.mb = 64;
  uneven.m = 320;
  uneven.mb = 64;
  EXPECT_EQ(feature(test::cpu_gemm(even), test::cpu_test_limits(), "wave_efficiency"), 1);
  EXPECT_FLOAT_EQ(feature(test::cpu_gemm(uneven), test::cpu_test_limits(), "wave_efficiency"), 5.0f / 8.0f);
}

TEST(CpuFeatures, AStridedReadShowsItsStrideAndItsWastedLines) {
  const auto reader = [](bool by_rows) {
    KernelBuilder b;
    const BufferId in = b.param("in", DType::kF32, 4096 * 4096, Direction::kIn);
    const BufferId out = b.param("out", DType::kF32, 4096 * 4096, Direction::kOut);
    const VarId i = b.var("i"), j = b.var("j");
    Expr index = by_rows ? var(i) * 4096 + var(j) : var(j) * 4096 + var(i);
    Stmt copy = Store{out, var(i) * 4096 + var(j), load(in, std::move(index)), 1, {}};
    b.kernel.body = block(
        loop(i, 4096, LoopKind::kSerial, block(loop(j, 4096, LoopKind::kSerial, block(std::move(copy))))));
    return featurize(b.kernel, test::cpu_test_limits());
  };
  EXPECT_FLOAT_EQ(feature(reader(true), "in0_inner_stride"), 1);
  EXPECT_FLOAT_EQ(feature(reader(false), "in0_inner_stride"), std::log2(4097.0f));
  // 4096 lines of 64 bytes do not fit into 48 KB: each of them is fetched again for every column.
  EXPECT_NEAR(feature(reader(false), "in0_l1_reloads"), 4, 0.01);
  EXPECT_NEAR(feature(reader(true), "in0_l1_reloads"), 0, 0.01);
}

TEST(CudaFeatures, CoalescedLoadsNeedTheFewestSectorsAndStridedOnesEight) {
  const Limits limits = cuda_limits("sm_80");
  EXPECT_EQ(feature(test::cuda_copy(1), limits, "load_sectors"), 0);
  EXPECT_EQ(feature(test::cuda_copy(8), limits, "load_sectors"), 3);
  EXPECT_EQ(feature(test::cuda_copy(64), limits, "load_sectors"), 3);
  EXPECT_EQ(feature(test::cuda_copy(4, 4), limits, "load_sectors"), 0);
  EXPECT_EQ(feature(test::cuda_copy(2), limits, "load_sectors"), 1);
  EXPECT_EQ(feature(test::cuda_copy(2), limits, "store_sectors"), 0);
}

TEST(CudaFeatures, BankConflictsFollowTheStrideOfThreadX) {
  const Limits limits = cuda_limits("sm_80");
  EXPECT_EQ(feature(test::shared_stride(1, false), limits, "read_conflicts"), 0);
  EXPECT_EQ(feature(test::shared_stride(2, false), limits, "read_conflicts"), 1);
  EXPECT_EQ(feature(test::shared_stride(32, false), limits, "read_conflicts"), 5);
  EXPECT_EQ(feature(test::shared_stride(33, false), limits, "write_conflicts"), 0);
}

TEST(CudaFeatures, ASwizzledIndexIsSeenAsFreeOfConflicts) {
  // Its stride from thread 0 to thread 1 says nothing: the XOR is evaluated for the whole warp.
  EXPECT_EQ(feature(test::shared_stride(32, true), cuda_limits("sm_80"), "worst_conflicts"), 0);
}

TEST(CudaFeatures, OccupancyIsLimitedByTheScarcestResource) {
  // 256 threads, 16 accumulators + 8 fragments + 32 = 56 registers, 8 KB shared on sm_80.
  const auto row = featurize(test::cuda_gemm({}), cuda_limits("sm_80"));
  EXPECT_NEAR(unlog(feature(row, "blocks_by_threads")), 8, 1e-4);
  EXPECT_NEAR(unlog(feature(row, "blocks_by_registers")), 65536 / (56 * 256), 1e-4);
  EXPECT_NEAR(unlog(feature(row, "blocks_by_shared")), 164 / 9, 1e-4);
  EXPECT_EQ(feature(row, "blocks_per_core"), 4);
  EXPECT_FLOAT_EQ(feature(row, "occupancy"), 4 * 8 / 64.0f);
}

TEST(CudaFeatures, MoreSharedMemoryLowersTheBlocksPerCore) {
  CudaGemm deep;
  deep.bk = 128;
  EXPECT_LT(feature(test::cuda_gemm(deep), cuda_limits("sm_80"), "blocks_per_core"),
            feature(test::cuda_gemm({}), cuda_limits("sm_80"), "blocks_per_core"));
}

TEST(CudaFeatures, TheTailOfTheLastWaveIsCounted) {
  CudaGemm s;  // 16 x 16 blocks of 64 x 64, 4 per SM: 256 / 432 of a wave
  const auto row = featurize(test::cuda_gemm(s), cuda_limits("sm_80"));
  EXPECT_NEAR(feature(row, "waves"), std::log2(256.0 / 432), 1e-4);
  EXPECT_NEAR(feature(row, "wave_efficiency"), 256.0 / 432, 1e-4);
}

TEST(CudaFeatures, LargerBlockTilesReadLessFromTheL2) {
  const Limits limits = cuda_limits("sm_80");
  CudaGemm small, large;
  small.bm = small.bn = 32;
  large.bm = large.bn = 128;
  large.tm = large.tn = 8;
  const double difference = feature(test::cuda_gemm(small), limits, "l1_traffic") -
                            feature(test::cuda_gemm(large), limits, "l1_traffic");
  EXPECT_NEAR(difference, 2, 0.3);  // 4 times larger tiles: a quarter of the bytes, but for C
  EXPECT_GT(feature(test::cuda_gemm(large), limits, "l1_intensity"),
            feature(test::cuda_gemm(small), limits, "l1_intensity"));
}

TEST(CudaFeatures, LaunchBoundsLeaveAThreadItsShareOfTheRegisters) {
  Kernel kernel = test::cuda_gemm({});  // 256 threads
  const Limits limits = cuda_limits("sm_80");
  EXPECT_NEAR(unlog(feature(kernel, limits, "register_share")), 65536 / 256, 1e-3);
  kernel.min_blocks_per_core = 2;
  EXPECT_NEAR(unlog(feature(kernel, limits, "register_share")), 65536 / 512, 1e-3);
}

TEST(CudaFeatures, BlocksThatStartTogetherShareOperands) {
  // 16 x 16 blocks along x and y: the first 32 read all 16 columns of B, and 2 rows of A.
  const auto row = featurize(test::cuda_gemm({}), cuda_limits("sm_80"));
  EXPECT_NEAR(unlog(feature(row, "in0_block_starts")), 2, 1e-4);
  EXPECT_NEAR(unlog(feature(row, "in1_block_starts")), 16, 1e-4);
}

TEST(CpuFeatures, APrefetchShowsHowFarAheadItIs) {
  const auto row_of = [](std::int64_t ahead) {
    KernelBuilder b;
    const BufferId in = b.param("in", DType::kF32, 8192, Direction::kIn);
    const BufferId out = b.param("out", DType::kF32, 4096, Direction::kOut);
    const VarId i = b.var("i");
    Intrinsic fetch{"prefetch", {Touch{in, var(i) + ahead}}, {}, 0};
    b.kernel.body = block(loop(i, 4096, LoopKind::kSerial,
                               block(Store{out, var(i), load(in, var(i)), 1, {}}, std::move(fetch))));
    return featurize(b.kernel, test::cpu_test_limits());
  };
  EXPECT_NEAR(unlog(feature(row_of(64), "prefetch_distance")), 64, 1e-3);
  EXPECT_NEAR(unlog(feature(row_of(512), "prefetch_distance")), 512, 1e-2);
  EXPECT_EQ(feature(test::cpu_gemm({}), test::cpu_test_limits(), "prefetch_distance"), 0);
}

TEST(CudaFeatures, BarriersAndStagingAreCounted) {
  const auto row = featurize(test::cuda_gemm({}), cuda_limits("sm_80"));
  EXPECT_NEAR(unlog(feature(row, "barriers")), 2 * 1024 / 16, 1e-3);
  EXPECT_NEAR(unlog(feature(row, "shared_bytes")), 2 * 64 * 16 * 4, 1e-2);
  EXPECT_EQ(feature(row, "async_share"), 0);
}

TEST(CudaFeatures, OnlyDivisionsByOtherThanPowersOfTwoCount) {
  EXPECT_EQ(feature(test::cuda_gemm({}), cuda_limits("sm_80"), "divisions_per_flop"), 0);
  CudaGemm odd;  // staging divides by bk = 12
  odd.k = 1152;
  odd.bk = 12;
  EXPECT_GT(feature(test::cuda_gemm(odd), cuda_limits("sm_80"), "divisions_per_flop"), 0);
}

TEST(CudaFeatures, AddressesOfAWarpAreExactUnderDivisionAndRemainder) {
  // Thread t stores to s[t % 4 * 272 + t / 4]: 272 is 16 banks on, so four rows share two banks each: degree
  // 2, where the stride of thread 1 alone would say 16.
  KernelBuilder b;
  b.kernel.target = Target::kCuda;
  const BufferId out = b.param("out", DType::kF32, 32, Direction::kOut);
  const BufferId s = b.buffer("s", DType::kF32, Scope::kShared, 1088);
  const VarId tx = b.var("tx"), k = b.var("k");
  b.kernel.body = block(loop(
      tx, 32, LoopKind::kThreadX,
      block(Alloc{s}, Let{k, var(tx) % 4 * 272}, Store{s, var(k) + var(tx) / 4, zero(DType::kF32), 1, {}},
            Barrier{}, Store{out, var(tx), load(s, var(tx)), 1, {}})));
  const auto row = featurize(b.kernel, cuda_limits("sm_80"));
  EXPECT_EQ(feature(row, "write_conflicts"), 1);
  EXPECT_EQ(feature(row, "read_conflicts"), 0);
}

/// Returns a kernel for 100 rows in tiles of 8: 12 full ones and, in the other branch, a tail of 4. One flop
/// per row and column.
Kernel tailed(bool tail) {
  KernelBuilder b;
  const BufferId in = b.param("in", DType::kF32, 100 * 64, Direction::kIn);
  const BufferId out = b.param("out", DType::kF32, 100 * 64, Direction::kOut);
  const BufferId acc = b.buffer("acc", DType::kF32, Scope::kRegister, 16);
  const BufferId acc_tail = b.buffer("acc_tail", DType::kF32, Scope::kRegister, 16);
  const VarId t = b.var("t");
  const auto rows = [&](std::int64_t n, BufferId sum) {
    const VarId r = b.var("r"), c = b.var("c");
    Expr place = (var(t) * 8 + var(r)) * 64 + var(c);
    return block(Alloc{sum},
                 loop(r, n, LoopKind::kSerial,
                      block(loop(c, 64, LoopKind::kSerial,
                                 block(Store{out, place, load(in, place) + load(in, place), 1, {}})))));
  };
  Block body = rows(8, acc);
  if (tail) body = block(If{lt(var(t), integer(12)), rows(8, acc), rows(8, acc_tail)});
  b.kernel.body = block(loop(t, 13, LoopKind::kSerial, std::move(body)));
  return std::move(b.kernel);
}

TEST(BranchFeatures, ATailCountsAsOftenAsItIsTaken) {
  const Limits limits = test::cpu_test_limits();
  const auto plain = featurize(tailed(false), limits), branched = featurize(tailed(true), limits);
  // The analysis counts both sides of the branch in full: twice the flops.
  EXPECT_NEAR(analyze(tailed(true)).flops / analyze(tailed(false)).flops, 2, 1e-9);
  for (const char* name :
       {"flops", "memory_instructions", "arithmetic_instructions", "in0_touches", "out_touches"}) {
    EXPECT_NEAR(feature(branched, name), feature(plain, name), 0.02) << name;
  }
}

TEST(BranchFeatures, WhatStandsInABranchWithoutALoopCountsAsOftenToo) {
  const auto written_by = [](std::int64_t threads) {
    KernelBuilder b;
    b.kernel.name = "few";
    b.kernel.target = Target::kCuda;
    const BufferId out = b.param("out", DType::kF32, 64, Direction::kOut);
    const VarId thread = b.var("thread");
    Block store = block(Store{out, var(thread), Float{1}, 1, std::nullopt});
    if (threads < 64) store = block(If{lt(var(thread), integer(threads)), std::move(store), {}});
    b.kernel.body = block(loop(thread, 64, LoopKind::kThreadX, std::move(store)));
    return unlog(feature(featurize(b.kernel, cuda_limits("sm_90a")), "global_written"));
  };
  EXPECT_NEAR(written_by(64), 64 * 4, 0.1);
  EXPECT_NEAR(written_by(16), 16 * 4, 0.1);
}

TEST(BranchFeatures, RegistersOfBranchesThatExcludeEachOtherDoNotAddUp) {
  const Limits limits = test::cpu_test_limits();
  EXPECT_EQ(feature(tailed(true), limits, "register_bytes"),
            feature(tailed(false), limits, "register_bytes"));
}

TEST(LoopFeatures, ALoopOfVaryingExtentCountsItsMean) {
  KernelBuilder b;  // a triangle: 64 * 65 / 2 of 64 * 64 iterations
  const BufferId out = b.param("out", DType::kF32, 64, Direction::kOut);
  const BufferId in = b.param("in", DType::kF32, 64, Direction::kIn);
  const VarId i = b.var("i"), j = b.var("j");
  Stmt body = Store{out, var(j), load(in, var(j)) + load(in, var(i)), 1, {}};
  b.kernel.body =
      block(loop(i, 64, LoopKind::kSerial, block(loop_to(j, var(i) + 1, 64, block(std::move(body))))));
  EXPECT_NEAR(unlog(feature(b.kernel, test::cpu_test_limits(), "flops")), 64 * 65 / 2, 100);
}

TEST(CudaFeatures, AsynchronousCopiesAndTheirDepthAreSeen) {
  KernelBuilder b;
  b.kernel.target = Target::kCuda;
  const BufferId in = b.param("in", DType::kF32, 128, Direction::kIn);
  const BufferId s = b.buffer("s", DType::kF32, Scope::kShared, 128);
  const VarId tx = b.var("tx");
  b.kernel.body = block(
      loop(tx, 32, LoopKind::kThreadX,
           block(Alloc{s},
                 Intrinsic{"cp_async_16", {{s, var(tx) * 4, 4, true}, {in, var(tx) * 4, 4, false}}, {}, 0},
                 Intrinsic{"cp_async_commit", {}, {}, 0}, Intrinsic{"cp_async_wait", {}, {integer(2)}, 0},
                 Barrier{})));
  const auto row = featurize(b.kernel, cuda_limits("sm_80"));
  EXPECT_EQ(feature(row, "async_share"), 1);
  EXPECT_EQ(feature(row, "pipeline_depth"), 3);
  EXPECT_EQ(feature(row, "load_sectors"), 0);
}

TEST(CudaFeatures, StagingLanesReachTheirColumn) {
  CudaGemm wide;
  wide.vector = 4;
  EXPECT_FLOAT_EQ(feature(test::cuda_gemm(wide), cuda_limits("sm_80"), "in0_lanes"), std::log2(5.0f));
  EXPECT_FLOAT_EQ(feature(test::cuda_gemm({}), cuda_limits("sm_80"), "in0_lanes"), 1);
}

TEST(LoopFeatures, SlotsRunFromTheInsideOut) {
  const auto row = featurize(test::cpu_gemm({}), test::cpu_test_limits());
  // v, u, k, j, i, kt, jt
  EXPECT_FLOAT_EQ(feature(row, "serial0_extent"), std::log2(1.0f + 2));
  EXPECT_FLOAT_EQ(feature(row, "serial1_extent"), std::log2(1.0f + 4));
  EXPECT_FLOAT_EQ(feature(row, "serial2_extent"), std::log2(1.0f + 128));
  EXPECT_FLOAT_EQ(feature(row, "serial3_extent"), std::log2(1.0f + 4));
  EXPECT_FLOAT_EQ(feature(row, "serial4_extent"), std::log2(1.0f + 16));
  EXPECT_EQ(feature(row, "serial7_extent"), 0);
  EXPECT_EQ(feature(row, "serial1_unrolled"), 1);
  EXPECT_EQ(feature(row, "serial2_unrolled"), 0);
  EXPECT_NEAR(unlog(feature(row, "serial2_flops")), 2 * 4 * 32, 1e-3);
}

TEST(RelationFeatures, ReuseIsSeenAtTheTouchCountWhereItHappens) {
  // B is read as 2 vectors of 16 per k and reused over 4 rows: reuse 4 while its count is still 32.
  const auto row = featurize(test::cpu_gemm({}), test::cpu_test_limits());
  EXPECT_FLOAT_EQ(feature(row, "operand1_reuse_at_count_2^6"), std::log2(1.0f + 4));
  EXPECT_FLOAT_EQ(feature(row, "operand1_reuse_at_count_2^3"), 0);
  CpuGemm tall;
  tall.mr = 8;
  const auto taller = featurize(test::cpu_gemm(tall), test::cpu_test_limits());
  EXPECT_FLOAT_EQ(feature(taller, "operand1_reuse_at_count_2^6"), std::log2(1.0f + 8));
}

}  // namespace
}  // namespace lehr
