// Tests with one planted fault per rule of the verifier; each message names the place and the culprit.
#include "tests/support/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/ir/sample_kernels.h"
#include "tests/support/unfolded.h"

namespace lehr::ir {
namespace {

using ::testing::HasSubstr;

// A kernel with one of everything, for faults to be planted in: out[i] = in[i] by way of a register.
struct Plot {
  KernelBuilder b;
  BufferId in, out, reg;
  VarId i, j, u;

  explicit Plot(Target target = Target::kCpu) {
    b.kernel.name = "plot";
    b.kernel.target = target;
    in = b.param("in", DType::kF32, 64, Direction::kIn);
    out = b.param("out", DType::kF32, 64, Direction::kOut);
    reg = b.buffer("reg", DType::kF32, Scope::kRegister, 8);
    i = b.var("i");
    j = b.var("j");
    u = b.var("u");
  }
  Stmt fill() const { return store(reg, integer(0), load(in, integer(0))); }
  Stmt copy() const { return store(out, var(i), load(reg, integer(0))); }
  static Stmt store(BufferId buffer, Expr index, Expr value, int lanes = 1) {
    return Store{buffer, std::move(index), std::move(value), lanes, std::nullopt};
  }
  // Puts `inner` between the load and the store, in a loop over i.
  template <typename... Inner>
  std::string complaint(LoopKind kind, Inner... inner) {
    b.kernel.body = block(Alloc{reg}, loop(i, 64, kind, block(fill(), std::move(inner)..., copy())));
    return why_malformed(b.kernel).value_or("");
  }
};

TEST(Verify, AcceptsWellFormedKernels) {
  EXPECT_EQ(why_malformed(testing::cpu_gemm()), std::nullopt);
  EXPECT_EQ(why_malformed(testing::cuda_gemm()), std::nullopt);
  Plot p;
  EXPECT_EQ(p.complaint(LoopKind::kSerial), "");
  Plot q(Target::kCuda);
  EXPECT_EQ(q.complaint(LoopKind::kThreadX), "");
}

TEST(Verify, RejectsAnUnboundVariable) {
  Plot p;
  EXPECT_EQ(p.complaint(LoopKind::kSerial, Plot::store(p.out, var(p.j), Float{1, DType::kF32})),
            "in loop i > store to out: variable j is not bound here");
}

TEST(Verify, RejectsAVariableAfterItsLoopHasEnded) {
  Plot p;
  EXPECT_EQ(p.complaint(LoopKind::kSerial, loop(p.j, 4, LoopKind::kSerial, {}),
                        Plot::store(p.out, var(p.j), Float{1, DType::kF32})),
            "in loop i > store to out: variable j is not bound here");
}

TEST(Verify, RejectsAVariableBoundTwiceOnAPath) {
  Plot p;
  EXPECT_EQ(p.complaint(LoopKind::kSerial, loop(p.i, 4, LoopKind::kSerial, {})),
            "in loop i > loop i: variable i is already bound here");
  EXPECT_EQ(p.complaint(LoopKind::kSerial, Let{p.j, integer(1)}, Let{p.j, integer(2)}),
            "in loop i > let j: variable j is already bound here");
  EXPECT_EQ(p.complaint(LoopKind::kSerial, loop(p.j, 4, LoopKind::kSerial, {}),
                        loop(p.j, 4, LoopKind::kSerial, {})),
            "")
      << "siblings may share a variable";
}

TEST(Verify, RejectsIdsOutOfRange) {
  Plot p;
  EXPECT_THAT(p.complaint(LoopKind::kSerial, Let{VarId{77}, integer(1)}), HasSubstr("variable #77"));
  EXPECT_THAT(p.complaint(LoopKind::kSerial, Let{p.j, var(VarId{-1})}),
              HasSubstr("in loop i > let j: variable #-1"));
  EXPECT_THAT(p.complaint(LoopKind::kSerial, Plot::store(BufferId{9}, integer(0), integer(0))),
              HasSubstr("buffer #9"));
  EXPECT_THAT(p.complaint(LoopKind::kSerial, Alloc{BufferId{9}}), HasSubstr("does not exist"));
  p.b.kernel.params.push_back({BufferId{12}, Direction::kIn});
  EXPECT_EQ(p.complaint(LoopKind::kSerial),
            "in kernel plot: a parameter is buffer #12, which does not exist");
}

TEST(Verify, RejectsABufferWithoutALivingAlloc) {
  Plot p;
  p.b.kernel.body = block(loop(p.i, 64, LoopKind::kSerial, block(p.fill(), p.copy())));
  EXPECT_EQ(why_malformed(p.b.kernel), "in loop i > store to reg: reg has no Alloc before this point");
  p.b.kernel.body = block(loop(p.j, 4, LoopKind::kSerial, block(Alloc{p.reg})),
                          loop(p.i, 64, LoopKind::kSerial, block(p.fill(), p.copy())));
  EXPECT_EQ(why_malformed(p.b.kernel), "in loop i > store to reg: reg has no Alloc before this point")
      << "a buffer dies with the block of its Alloc";
}

TEST(Verify, RejectsASecondAlloc) {
  Plot p;
  EXPECT_EQ(p.complaint(LoopKind::kSerial, Alloc{p.reg}),
            "in loop i > alloc of reg: the buffer has a second Alloc");
  const BufferId panel = p.b.buffer("panel", DType::kF32, Scope::kScratch, 8);
  EXPECT_EQ(p.complaint(LoopKind::kSerial, If{integer(1), block(Alloc{panel}), block(Alloc{panel})}),
            "in loop i > else of if 1 > alloc of panel: the buffer has a second Alloc");
}

TEST(Verify, RejectsAnAllocOfAParameterAndABufferWithoutAny) {
  Plot p;
  EXPECT_THAT(p.complaint(LoopKind::kSerial, Alloc{p.in}), HasSubstr("a global buffer is a parameter"));
  p.b.buffer("lost", DType::kF32, Scope::kScratch, 8);
  EXPECT_EQ(p.complaint(LoopKind::kSerial), "in kernel plot: buffer lost (scratch) has no Alloc");
}

TEST(Verify, RejectsAGlobalBufferThatIsNoParameter) {
  Plot p;
  const BufferId stray = p.b.buffer("stray", DType::kF32, Scope::kGlobal, 8);
  EXPECT_EQ(p.complaint(LoopKind::kSerial, Plot::store(stray, integer(0), integer(0))),
            "in loop i > store to stray: stray is not a parameter");
}

TEST(Verify, RejectsEmptyBuffersAndBrokenVectorWidths) {
  Plot p;
  p.b.kernel.buffers[2].elements = 0;
  EXPECT_EQ(p.complaint(LoopKind::kSerial), "in kernel plot: buffer reg has 0 elements, it needs at least 1");
  p.b.kernel.buffers[2] = {"reg", DType::kF32, Scope::kRegister, 10, 4};
  EXPECT_EQ(p.complaint(LoopKind::kSerial),
            "in kernel plot: buffer reg cannot keep 10 elements as vectors of 4");
}

TEST(Verify, RejectsScopesThatTheTargetDoesNotHave) {
  Plot p;
  p.b.buffer("tile", DType::kF32, Scope::kShared, 8);
  EXPECT_EQ(p.complaint(LoopKind::kSerial),
            "in kernel plot: buffer tile is shared, which the target cpu does not have");
  Plot q(Target::kCuda);
  q.b.buffer("panel", DType::kF32, Scope::kScratch, 8);
  EXPECT_THAT(q.complaint(LoopKind::kSerial), HasSubstr("panel is scratch"));
}

TEST(Verify, RejectsNamesThatAreNoIdentifiersOrNotUnique) {
  Plot p;
  p.b.kernel.vars[0] = "2i";
  EXPECT_EQ(p.complaint(LoopKind::kSerial), "in kernel plot: the name '2i' is not a C identifier");
  p.b.kernel.vars[0] = "i";
  p.b.kernel.buffers[0].name = p.b.kernel.buffers[1].name;
  EXPECT_EQ(p.complaint(LoopKind::kSerial),
            "in kernel plot: the name " + p.b.kernel.buffers[0].name + " is used twice");
  p.b.kernel.name = "a b";
  EXPECT_THAT(p.complaint(LoopKind::kSerial), HasSubstr("'a b' is not a C identifier"));
}

TEST(Verify, RejectsParametersOutsideOfGlobalMemoryOrListedTwice) {
  Plot p;
  p.b.kernel.params.push_back({p.in, Direction::kIn});
  EXPECT_EQ(p.complaint(LoopKind::kSerial), "in kernel plot: parameter in is listed twice");
  p.b.kernel.params.back().buffer = p.reg;
  EXPECT_EQ(p.complaint(LoopKind::kSerial), "in kernel plot: parameter reg is register, it must be global");
}

TEST(Verify, RejectsDependentExtentsWhereTheKindNeedsAConstant) {
  Plot p;
  EXPECT_EQ(p.complaint(LoopKind::kSerial, For{p.j, var(p.i), 64, LoopKind::kUnrolled, {}}),
            "in loop i > loop j: a loop of kind unrolled needs a constant extent, not i");
  EXPECT_EQ(p.complaint(LoopKind::kSerial, loop_to(p.j, var(p.i), 64, {})), "");
}

TEST(Verify, RejectsBoundsThatDoNotFitTheExtent) {
  Plot p;
  EXPECT_EQ(p.complaint(LoopKind::kSerial, For{p.j, integer(8), 9, LoopKind::kSerial, {}}),
            "in loop i > loop j: the bound 9 is not the extent 8");
  EXPECT_EQ(p.complaint(LoopKind::kSerial, loop(p.j, 0, LoopKind::kSerial, {})),
            "in loop i > loop j: the bound is 0, it must be at least 1");
}

TEST(Verify, RejectsLoopKindsOfTheOtherTarget) {
  Plot p;
  EXPECT_EQ(p.complaint(LoopKind::kThreadX),
            "in loop i: a loop of kind thread.x does not exist on target cpu");
  Plot q(Target::kCuda);
  EXPECT_EQ(q.complaint(LoopKind::kParallel),
            "in loop i: a loop of kind parallel does not exist on target cuda");
}

TEST(Verify, RejectsAParallelLoopThatIsNotOutermost) {
  Plot p;
  EXPECT_EQ(p.complaint(LoopKind::kSerial, loop(p.j, 4, LoopKind::kParallel, {})),
            "in loop i > loop j: a parallel loop must be outermost");
}

TEST(Verify, RejectsALaunchDimensionBoundTwiceOrWithTwoExtents) {
  Plot p(Target::kCuda);
  EXPECT_EQ(p.complaint(LoopKind::kThreadX, loop(p.j, 64, LoopKind::kThreadX, {})),
            "in loop i > loop j: thread.x is already bound by an enclosing loop");
  EXPECT_EQ(p.complaint(LoopKind::kSerial, loop(p.j, 64, LoopKind::kThreadY, {}),
                        loop(p.u, 32, LoopKind::kThreadY, {})),
            "in loop i > loop u: thread.y has extent 32 here and 64 elsewhere");
  EXPECT_EQ(p.complaint(LoopKind::kSerial, loop(p.j, 64, LoopKind::kThreadY, {}),
                        loop(p.u, 64, LoopKind::kThreadY, {})),
            "");
}

TEST(Verify, RejectsAWrittenInputAndAnUnwrittenOutput) {
  Plot p;
  EXPECT_EQ(p.complaint(LoopKind::kSerial, Plot::store(p.in, integer(0), Float{0, DType::kF32})),
            "in loop i > store to in: in is an input parameter and cannot be written");
  p.b.kernel.body = block(Alloc{p.reg}, p.fill());
  EXPECT_EQ(why_malformed(p.b.kernel), "in kernel plot: output parameter out is never written");
}

TEST(Verify, RejectsLanesThatDisagree) {
  Plot p;
  const Expr four = load(p.in, integer(0), 4);
  const Expr eight = load(p.in, integer(0), 8);
  const auto stored = [&](Expr value, int lanes) {
    return p.complaint(LoopKind::kSerial, Plot::store(p.out, var(p.i), std::move(value), lanes));
  };
  EXPECT_EQ(stored(four, 8), "in loop i > store to out: stores 8 lanes of a value that has 4");
  EXPECT_THAT(stored(four + eight, 4), HasSubstr("store to out: in[0 : 4]+in[0 : 8] combines 4 and 8 lanes"));
  EXPECT_THAT(stored(fma(four, eight, four), 4), HasSubstr("an fma of 4, 8 and 4 lanes"));
  EXPECT_THAT(stored(splat(four, 4), 4), HasSubstr("a splat of 4 lanes into 4"));
  EXPECT_THAT(stored(select(lt(var(p.i), integer(3)), four, eight), 4),
              HasSubstr("a select between 4 and 8 lanes"));
  EXPECT_EQ(stored(select(lt(four, four), four, four), 4), "");
  EXPECT_EQ(stored(select(logical_and(eq(four, four), le(four, four)), four, four), 4), "");
  EXPECT_THAT(stored(select(lt(four, four), eight, eight), 8), HasSubstr("a condition of 4 lanes"));
  EXPECT_THAT(stored(select(four, four, four), 4), HasSubstr("a condition of 4 lanes"));
  EXPECT_EQ(stored(reduce_add(eight), 1), "");
  EXPECT_EQ(stored(unary(UnaryOp::kSilu, eight), 8), "");
  EXPECT_THAT(stored(unary(UnaryOp::kSilu, four), 8), HasSubstr("stores 8 lanes of a value that has 4"));
  EXPECT_THAT(stored(unary(UnaryOp::kSilu, var(p.i)), 1), HasSubstr("silu(i) needs f32"));
  EXPECT_THAT(stored(load(p.in, integer(0), 0), 0), HasSubstr("0 lanes of out"));
}

TEST(Verify, RejectsMasksAndStreamingStoresWhereThereAreNone) {
  const auto complaint = [](Target target, bool streams, bool to_register) {
    Plot p(target);
    const Expr four = load(p.in, integer(0), 4);
    const Store store{to_register ? p.reg : p.out,
                      integer(0),
                      streams ? four : select(lt(four, four), four, four),
                      4,
                      std::nullopt,
                      streams};
    return p.complaint(target == Target::kCuda ? LoopKind::kThreadX : LoopKind::kSerial, store);
  };
  EXPECT_EQ(complaint(Target::kCpu, true, false), "");
  EXPECT_THAT(complaint(Target::kCpu, true, true),
              HasSubstr("only parameters of target cpu are written past"));
  EXPECT_THAT(complaint(Target::kCuda, true, false), HasSubstr("only parameters of target cpu"));
  EXPECT_THAT(complaint(Target::kCuda, false, false), HasSubstr("a condition of 4 lanes"));
}

TEST(Verify, RejectsIndicesCountsAndExtentsThatAreNotOneInteger) {
  Plot p;
  EXPECT_THAT(p.complaint(LoopKind::kSerial, Plot::store(p.out, Float{1, DType::kF32}, integer(0))),
              HasSubstr("in loop i > store to out: the index of out, 1.0 must be one integer"));
  EXPECT_THAT(p.complaint(LoopKind::kSerial, Let{p.j, load(p.in, integer(0))}),
              HasSubstr("let j: the value in[0] must be"));
  EXPECT_THAT(p.complaint(LoopKind::kSerial, loop_to(p.j, splat(var(p.i), 4), 8, {})),
              HasSubstr("the extent splat(i : 4)"));
  EXPECT_THAT(p.complaint(LoopKind::kSerial, Store{p.out, integer(0), load(p.in, integer(0), 4), 4,
                                                   Expr(Float{2, DType::kF32})}),
              HasSubstr("the active count of out, 2.0"));
  EXPECT_THAT(p.complaint(LoopKind::kSerial, If{load(p.in, integer(0), 4), {}, {}}),
              HasSubstr("the condition has 4 lanes"));
}

TEST(Verify, RejectsIntegerOperationsOnFloatsAndBadDivisors) {
  Plot p;
  const Expr f = load(p.in, integer(0));
  EXPECT_THAT(p.complaint(LoopKind::kSerial, Plot::store(p.out, integer(0), f % f)),
              HasSubstr("in[0]%in[0] needs integers"));
  const Expr divided = unfolded(BinaryOp::kDiv, var(p.i), integer(0));
  EXPECT_EQ(p.complaint(LoopKind::kSerial, Plot::store(p.out, divided, f)),
            "in loop i > store to out: i/0 has a divisor that is not positive");
}

TEST(Verify, RejectsAConstantIndexOutsideOfItsBuffer) {
  Plot p;
  EXPECT_EQ(p.complaint(LoopKind::kSerial, Plot::store(p.reg, integer(8), Float{0, DType::kF32})),
            "in loop i > store to reg: reg[8 : 1] is outside of its 8 elements");
  EXPECT_THAT(p.complaint(LoopKind::kSerial, Plot::store(p.out, integer(61), load(p.in, integer(0), 4), 4)),
              HasSubstr("out[61 : 4] is outside of its 64 elements"));
}

TEST(Verify, RejectsIntrinsicsItDoesNotKnow) {
  Plot p(Target::kCuda);
  EXPECT_EQ(p.complaint(LoopKind::kThreadX, Intrinsic{"cp_async_comit", {}, {}, 0}),
            "in loop i > intrinsic cp_async_comit: no such intrinsic, did you mean cp_async_commit?");
  EXPECT_THAT(p.complaint(LoopKind::kThreadX, Intrinsic{"frobnicate", {}, {}, 0}),
              HasSubstr("no such intrinsic"));
}

TEST(Verify, RejectsIntrinsicsOfTheWrongShape) {
  Plot p(Target::kCuda);
  const BufferId tile = p.b.buffer("tile", DType::kF32, Scope::kShared, 64);
  const auto with = [&](Intrinsic intrinsic) {
    p.b.kernel.body = block(Alloc{p.reg}, Alloc{tile},
                            loop(p.i, 64, LoopKind::kThreadX, block(p.fill(), intrinsic, p.copy())));
    return why_malformed(p.b.kernel).value_or("");
  };
  const Touch to{tile, integer(0), 4, true};
  const Touch from{p.in, integer(0), 4, false};
  EXPECT_EQ(with({"cp_async_16", {to, from}, {}, 0}), "");
  EXPECT_EQ(with({"cp_async_16", {to, from}, {var(p.i)}, 0}), "")
      << "bytes actually read, the rest is zero-filled";
  EXPECT_EQ(with({"prefetch", {from}, {}, 0}), "");
  EXPECT_THAT(with({"cp_async_16", {to}, {}, 0}), HasSubstr("it has 1 touches, it takes 2"));
  EXPECT_THAT(with({"cp_async_commit", {}, {integer(1)}, 0}),
              HasSubstr("it has 1 arguments, it takes 0 to 0"));
  EXPECT_THAT(with({"cp_async_16", {from, to}, {}, 0}),
              HasSubstr("its first touch must write a shared buffer"));
  EXPECT_THAT(with({"cp_async_16", {to, to}, {}, 0}),
              HasSubstr("its second touch must read a global buffer"));
  EXPECT_THAT(with({"cp_async_8", {to, from}, {}, 0}), HasSubstr("it touches 16 bytes of tile instead of 8"));
  EXPECT_THAT(with({"cp_async_wait", {}, {var(p.i)}, 0}), HasSubstr("its argument must be a constant"));
  EXPECT_THAT(with({"prefetch", {{p.out, integer(0), 4, true}}, {}, 0}),
              HasSubstr("its first touch must read a buffer"));
  EXPECT_THAT(with({"prefetch", {{p.in, var(p.j), 4, false}}, {}, 0}), HasSubstr("variable j is not bound"));
  Plot q;
  EXPECT_THAT(q.complaint(LoopKind::kSerial, Intrinsic{"cp_async_commit", {}, {}, 0}),
              HasSubstr("only on target cuda"));
}

TEST(Verify, RejectsBarriersOnTheCpu) {
  Plot p;
  EXPECT_EQ(p.complaint(LoopKind::kSerial, Barrier{}),
            "in loop i > barrier: barriers exist only on target cuda");
}

TEST(Verify, RejectsUniformValuesThatLanesMayDisagreeOn) {
  const std::string disagree = ": the lanes of a warp may disagree on it, or on whether they reach it";
  Plot p(Target::kCuda);
  EXPECT_EQ(p.complaint(LoopKind::kThreadX, Let{p.u, var(p.i) / 32, true}), "");
  EXPECT_EQ(p.complaint(LoopKind::kThreadX, Let{p.u, var(p.i) / 64 + 1, true}), "");
  EXPECT_EQ(p.complaint(LoopKind::kThreadX, Let{p.u, integer(3), true}), "");
  EXPECT_EQ(p.complaint(LoopKind::kThreadX, Let{p.u, var(p.i) / 16, true}), "in loop i > let u" + disagree);
  EXPECT_EQ(
      p.complaint(LoopKind::kThreadX, If{lt(var(p.i), integer(16)), block(Let{p.u, integer(3), true}), {}}),
      "in loop i > if i<16 > let u" + disagree);
  Plot of_cpu;
  EXPECT_EQ(of_cpu.complaint(LoopKind::kSerial, Let{of_cpu.u, integer(3), true}),
            "in loop i > let u: there are warps only on target cuda");
}

TEST(Verify, RejectsBarriersThatThreadsMayDisagreeOn) {
  Plot p(Target::kCuda);
  const std::string divergent = ": threads may disagree on whether they reach it";
  EXPECT_EQ(p.complaint(LoopKind::kThreadX, If{lt(var(p.i), integer(32)), block(Barrier{}), {}}),
            "in loop i > if i<32 > barrier" + divergent);
  EXPECT_EQ(
      p.complaint(LoopKind::kThreadX, If{lt(var(p.i), integer(32)), {}, block(Barrier{BarrierScope::kWarp})}),
      "in loop i > else of if i<32 > barrier" + divergent);
  EXPECT_EQ(p.complaint(LoopKind::kThreadX, loop_to(p.j, var(p.i), 64, block(Barrier{}))),
            "in loop i > loop j > barrier" + divergent);
  EXPECT_EQ(p.complaint(LoopKind::kThreadX, Let{p.u, var(p.i) / 32},
                        loop_to(p.j, var(p.u) + 1, 2, block(Barrier{}))),
            "in loop i > loop j > barrier" + divergent)
      << "through a Let";
  EXPECT_EQ(p.complaint(LoopKind::kThreadX,
                        If{lt(load(p.in, integer(0)), Float{0, DType::kF32}), block(Barrier{}), {}}),
            "in loop i > if in[0]<0.0 > barrier" + divergent)
      << "memory may differ";
  EXPECT_EQ(p.complaint(LoopKind::kThreadX, loop(p.j, 4, LoopKind::kSerial,
                                                 block(If{lt(var(p.j), integer(3)), block(Barrier{}), {}}))),
            "")
      << "all threads agree on j";
}

TEST(Verify, RejectsWarpSumsOfSomeLanesOrOfNoGroup) {
  Plot p(Target::kCuda);
  const auto sum = [&](std::int64_t lanes) {
    return Intrinsic{"warp_sum_f32", {Touch{p.reg, integer(0), 1, true}}, {integer(lanes)}, 5};
  };
  EXPECT_EQ(p.complaint(LoopKind::kThreadX, sum(32)), "");
  EXPECT_THAT(p.complaint(LoopKind::kThreadX, If{lt(var(p.i), integer(9)), block(sum(8)), {}}),
              HasSubstr("the lanes of a warp may disagree on whether they reach it"));
  for (const std::int64_t lanes : {0, 6, 64}) {
    EXPECT_THAT(p.complaint(LoopKind::kThreadX, sum(lanes)), HasSubstr("a constant power of two up to 32"));
  }
}

TEST(Verify, RejectsRegisterIndicesThatUnrollingDoesNotResolve) {
  Plot p;
  const Expr value = Float{0, DType::kF32};
  EXPECT_EQ(
      p.complaint(LoopKind::kSerial, Plot::store(p.reg, var(p.i), value)),
      "in loop i > store to reg: register buffer reg is indexed by i, which is no constant after unrolling");
  EXPECT_EQ(p.complaint(LoopKind::kSerial, loop(p.j, 4, LoopKind::kUnrolled,
                                                block(Plot::store(p.reg, var(p.j) * 2 + 1, value)))),
            "");
  EXPECT_EQ(p.complaint(LoopKind::kSerial,
                        loop(p.j, 4, LoopKind::kUnrolled,
                             block(Let{p.u, var(p.j) + 1}, Plot::store(p.reg, var(p.u), value)))),
            "");
  EXPECT_THAT(p.complaint(LoopKind::kSerial,
                          loop(p.j, 4, LoopKind::kUnrolled,
                               block(Let{p.u, var(p.j) + var(p.i)}, Plot::store(p.reg, var(p.u), value)))),
              HasSubstr("is indexed by u"));
}

TEST(Verify, RejectsPartsOfRegisterVectors) {
  Plot p;
  p.b.kernel.buffers[2].lanes = 4;
  const auto with = [&](Expr index, int lanes) {
    p.b.kernel.body =
        block(Alloc{p.reg},
              loop(p.i, 64, LoopKind::kSerial,
                   block(loop(p.j, 2, LoopKind::kUnrolled,
                              block(Plot::store(p.reg, std::move(index), zero(DType::kF32, lanes), lanes))),
                         Plot::store(p.out, var(p.i), Float{0, DType::kF32}))));
    return why_malformed(p.b.kernel).value_or("");
  };
  EXPECT_EQ(with(var(p.j) * 4, 4), "");
  EXPECT_EQ(with(unfolded(BinaryOp::kMul, var(p.j) * 2, integer(2)), 4), "");
  EXPECT_THAT(with(var(p.j) * 4, 1),
              HasSubstr("register buffer reg holds vectors of 4 and is accessed as [j*4 : 1]"));
  EXPECT_THAT(with(var(p.j) * 2, 4), HasSubstr("is accessed as [j*2 : 4]"));
}

TEST(Verify, NamesEveryEnclosingStatement) {
  Plot p;
  EXPECT_EQ(
      p.complaint(
          LoopKind::kSerial,
          loop(p.u, 4, LoopKind::kSerial,
               block(If{lt(var(p.u), integer(2)), block(Plot::store(p.out, var(p.j), integer(0))), {}}))),
      "in loop i > loop u > if u<2 > store to out: variable j is not bound here");
}

}  // namespace
}  // namespace lehr::ir
