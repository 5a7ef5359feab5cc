// Holds the readable form against golden text.
#include "ir/print.h"

#include <gtest/gtest.h>

#include "tests/ir/sample_kernels.h"

namespace lehr::ir {
namespace {

TEST(Print, ShowsACpuGemm) {
  EXPECT_EQ(to_text(testing::cpu_gemm()),
            R"(kernel gemm_cpu target=cpu params(in a: f32[240], in b: f32[640], out c: f32[384])
parallel t in 0..2:
  let row = t*6
  for no in 0..2:
    scratch panel: f32[320]
    for kp in 0..20:
      for jp in 0..2:
        panel[kp*16+jp*8 : 8] = b[kp*32+no*16+jp*8 : 8]
    register acc: f32[96] in vectors of 8
    unrolled i in 0..6:
      unrolled j in 0..2:
        acc[(i*2+j)*8 : 8] = splat(0.0 : 8)
    for k in 0..20:
      unrolled i in 0..6:
        unrolled j in 0..2:
          acc[(i*2+j)*8 : 8] = fma(splat(a[(row+i)*20+k] : 8), panel[k*16+j*8 : 8], acc[(i*2+j)*8 : 8])
    unrolled i in 0..6:
      unrolled j in 0..2:
        c[(row+i)*32+no*16+j*8 : 8] = acc[(i*2+j)*8 : 8]
)");
}

TEST(Print, ShowsACudaGemm) {
  EXPECT_EQ(
      to_text(testing::cuda_gemm()),
      R"(kernel gemm_cuda target=cuda params(in a: f32[2048], in b: f32[2048], out c: f32[4096]) min_blocks_per_core=2
block.y by in 0..2:
  block.x bx in 0..2:
    thread.x tx in 0..64:
      let row = tx/8*4
      let column = tx%8*4
      shared tile_a: f32[256]
      shared tile_b: f32[256]
      register acc: f32[16]
      unrolled i in 0..4:
        unrolled j in 0..4:
          acc[i*4+j] = 0.0
      for ko in 0..4:
        cp_async_16(write tile_a[tx/2*8+tx%2*4 : 4], read a[(by*32+tx/2)*32+ko*8+tx%2*4 : 4])
        cp_async_16(write tile_b[tx/8*32+tx%8*4 : 4], read b[(ko*8+tx/8)*64+bx*32+tx%8*4 : 4])
        cp_async_commit()
        cp_async_wait(0)
        barrier block
        unrolled k in 0..8:
          unrolled i in 0..4:
            unrolled j in 0..4:
              acc[i*4+j] = fma(tile_a[(row+i)*8+k], tile_b[k*32+column+j], acc[i*4+j])
        barrier block
      unrolled i in 0..4:
        unrolled j in 0..4:
          c[(by*32+row+i)*64+bx*32+column+j] = acc[i*4+j]
)");
}

TEST(Print, ShowsGuardsTailsAndDependentExtents) {
  KernelBuilder b;
  b.kernel.name = "tail";
  const BufferId x = b.param("x", DType::kF16, 100, Direction::kIn);
  const BufferId y = b.param("y", DType::kF64, 100, Direction::kOut);
  const VarId i = b.var("i"), j = b.var("j");
  b.kernel.body =
      block(loop(i, 13, LoopKind::kSerial,
                 block(Intrinsic{"prefetch", {{x, var(i) * 8 + 8, 8, false}}, {}, 0},
                       If{logical_and(lt(var(i), integer(12)), eq(var(i) % 2, integer(0))),
                          block(Store{y, var(i) * 8, load_active(x, var(i) * 8, 8, integer(100) - var(i) * 8),
                                      8, integer(100) - var(i) * 8}),
                          block(loop_to(j, min(integer(8), integer(100) - var(i) * 8), 8,
                                        block(Store{y, var(i) * 8 + var(j),
                                                    select(lt(integer(0), load(x, var(j))), load(x, var(j)),
                                                           Float{-0.5, DType::kF64}),
                                                    1, std::nullopt})))},
                       Store{y, var(i) * 4, zero(DType::kF64, 4), 4, std::nullopt, true},
                       Barrier{BarrierScope::kWarp})));
  EXPECT_EQ(to_text(b.kernel), R"(kernel tail target=cpu params(in x: f16[100], out y: f64[100])
for i in 0..13:
  prefetch(read x[i*8+8 : 8])
  if i<12&&i%2==0:
    y[i*8 : 8 active 100-i*8] = x[i*8 : 8 active 100-i*8]
  else:
    for j in 0..min(8, 100-i*8) (at most 8):
      y[i*8+j] = select(0<x[j], x[j], -0.5:f64)
  y[i*4 : 4] = splat(0.0:f64 : 4) streaming
  barrier warp
)");
}

TEST(Print, KeepsTheTreeVisibleInParentheses) {
  KernelBuilder b;
  const VarId x = b.var("x"), y = b.var("y"), z = b.var("z");
  const auto text = [&](const Expr& expr) { return to_text(expr, b.kernel); };
  EXPECT_EQ(text(var(x) - (var(y) - var(z))), "x-(y-z)");
  EXPECT_EQ(text(var(x) - var(y) - var(z)), "x-y-z");
  EXPECT_EQ(text((var(x) + var(y)) * var(z)), "(x+y)*z");
  EXPECT_EQ(text(var(x) / (var(y) * var(z))), "x/(y*z)");
  EXPECT_EQ(text(bit_xor(var(x), var(y) % 8) * 4), "(x^y%8)*4");
  EXPECT_EQ(text(lt(bit_xor(var(x), var(y)), var(z))), "x^y<z");
  EXPECT_EQ(text(max(var(x), integer(-1)) * -2), "max(x, -1)*(-2)");
  EXPECT_EQ(text(reduce_add(fma(var(x), var(y), var(z)))), "reduce_add(fma(x, y, z))");
  EXPECT_EQ(text(reduce_max(var(x)) - reduce_min(var(y))), "reduce_max(x)-reduce_min(y)");
  EXPECT_EQ(text(unary(UnaryOp::kGeluErf, var(x)) * var(y)), "gelu_erf(x)*y");
}

TEST(Print, NamesWhatDoesNotExistByNumber) {
  const Kernel empty;
  EXPECT_EQ(to_text(load(BufferId{3}, var(VarId{5})), empty), "buffer#3[var#5]");
}

}  // namespace
}  // namespace lehr::ir
