// Tests of casts and of the intrinsics of tensor cores: printed, analysed, and rejected where they make no
// sense.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/analyze.h"
#include "ir/print.h"
#include "tests/ir/sample_kernels.h"
#include "tests/support/verify.h"

namespace lehr::ir {
namespace {

using ::testing::HasSubstr;

/// out[i] = value(in[i]) for 32 threads, with register buffers at hand.
struct CastPlot {
  KernelBuilder b;
  BufferId in, out, floats, words;
  VarId i;
  explicit CastPlot(DType from, DType to, Target target = Target::kCuda) {
    b.kernel.name = "k";
    b.kernel.target = target;
    in = b.param("in", from, 32, Direction::kIn);
    out = b.param("out", to, 32, Direction::kOut);
    floats = b.buffer("floats", DType::kF32, Scope::kRegister, 8);
    words = b.buffer("words", DType::kU32, Scope::kRegister, 8);
    i = b.var("i");
  }
  std::string complaint(Expr value, Block more = {}) {
    Block body = block(Alloc{floats}, Alloc{words}, Store{out, var(i), std::move(value), 1, std::nullopt});
    append(body, more);
    const LoopKind kind = b.kernel.target == Target::kCuda ? LoopKind::kThreadX : LoopKind::kSerial;
    b.kernel.body = block(loop(i, 32, kind, std::move(body)));
    return why_malformed(b.kernel).value_or("");
  }
};

TEST(Cast, PrintsAsItsTypeAndComparesByIt) {
  CastPlot p(DType::kBF16, DType::kF32);
  const Expr value = cast(DType::kF32, load(p.in, var(p.i)));
  EXPECT_EQ(to_text(value, p.b.kernel), "f32(in[i])");
  EXPECT_EQ(value, cast(DType::kF32, load(p.in, var(p.i))));
  EXPECT_FALSE(value == cast(DType::kF64, load(p.in, var(p.i))));
}

TEST(Cast, IsNeededBeforeArithmeticOnSmallFloats) {
  CastPlot p(DType::kBF16, DType::kF32);
  const Expr raw = load(p.in, var(p.i));
  EXPECT_EQ(p.complaint(cast(DType::kF32, raw)), "");
  EXPECT_EQ(p.complaint(fma(cast(DType::kF32, raw), Float{2}, Float{1})), "");
  EXPECT_THAT(p.complaint(raw + Float{1}), HasSubstr("in[i]+1.0 computes with bf16, which needs a cast"));
  EXPECT_THAT(p.complaint(fma(raw, Float{2}, Float{1})), HasSubstr("needs a cast"));
}

TEST(Cast, ExistsBetweenTheTypesThatCudaConverts) {
  CastPlot down(DType::kF32, DType::kF16);
  EXPECT_EQ(down.complaint(cast(DType::kF16, load(down.in, var(down.i)))), "");
  CastPlot eight(DType::kF32, DType::kE4M3);
  EXPECT_THAT(eight.complaint(cast(DType::kE4M3, load(eight.in, var(eight.i)))),
              HasSubstr("a cast that does not exist"));
  CastPlot integers(DType::kS8, DType::kS32);
  EXPECT_EQ(integers.complaint(cast(DType::kS32, load(integers.in, var(integers.i)))), "");
  CastPlot cpu(DType::kF32, DType::kF16, Target::kCpu);
  EXPECT_THAT(cpu.complaint(cast(DType::kF16, load(cpu.in, var(cpu.i)))), HasSubstr("only on target cuda"));
  EXPECT_THAT(down.complaint(cast(DType::kF16, load(down.in, integer(0), 4))), HasSubstr("it can cast 1"));
}

Intrinsic mma(const CastPlot& p) {
  return {"mma_m16n8k16_f32_bf16",
          {Touch{p.floats, integer(0), 4, true}, Touch{p.words, integer(0), 4, false},
           Touch{p.words, integer(4), 2, false}},
          {},
          128};
}

TEST(TensorIntrinsics, TakeRegistersOfTheirTypeAndSize) {
  CastPlot p(DType::kF32, DType::kF32);
  const Expr value = load(p.in, var(p.i));
  EXPECT_EQ(p.complaint(value, block(mma(p))), "");
  EXPECT_EQ(analyze(p.b.kernel).flops, 128 * 32);  // of one thread, times the threads
  Intrinsic wrong = mma(p);
  wrong.touches[0].buffer = p.words;
  EXPECT_THAT(p.complaint(value, block(wrong)), HasSubstr("words is of u32, it takes f32"));
  wrong = mma(p);
  wrong.touches[2].elements = 4;
  EXPECT_THAT(p.complaint(value, block(wrong)), HasSubstr("it touches 16 bytes of words instead of 8"));
  wrong = mma(p);
  wrong.touches[1] = {p.in, integer(0), 4, false};
  EXPECT_THAT(p.complaint(value, block(wrong)), HasSubstr("its second touch must read a register buffer"));
}

TEST(TensorIntrinsics, AreRejectedWhereTheLanesOfAWarpMayPart) {
  CastPlot p(DType::kF32, DType::kF32);
  const Expr value = load(p.in, var(p.i));
  EXPECT_THAT(p.complaint(value, block(If{lt(var(p.i), integer(16)), block(mma(p)), {}})),
              HasSubstr("lanes of a warp may disagree"));
}

TEST(TensorIntrinsics, SumOverGroupsIntoWhichAWarpDivides) {
  CastPlot p(DType::kF32, DType::kF32);
  const Expr value = load(p.in, var(p.i));
  const auto sum = [&](std::int64_t lanes) {
    return block(Intrinsic{"warp_sum_f32", {Touch{p.floats, integer(0), 1, true}}, {integer(lanes)}, 0});
  };
  EXPECT_EQ(p.complaint(value, sum(8)), "");
  EXPECT_THAT(p.complaint(value, sum(12)), HasSubstr("a constant power of two up to 32"));
  EXPECT_THAT(p.complaint(value, sum(64)), HasSubstr("a constant power of two up to 32"));
}

}  // namespace
}  // namespace lehr::ir
