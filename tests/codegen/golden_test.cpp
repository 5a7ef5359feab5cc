// Holds the emitted text of each family against files: a change of a kernel's source is always a visible
// diff.
#include <gtest/gtest.h>

#include "base/limits.h"
#include "codegen/emit.h"
#include "ir/print.h"
#include "target/cuda/archs.h"
#include "templates/catalog.h"
#include "tests/support/golden.h"
#include "tests/support/verify.h"

namespace lehr {
namespace {

Limits avx512() {
  Limits limits;
  limits.arch = "avx512";
  limits.cores = 2;
  limits.vector_bytes = 64;
  limits.vector_registers = 32;
  limits.l1_bytes = 32 << 10;
  limits.l2_bytes = 1 << 20;
  return limits;
}

void expect_golden_kernel(const std::string& name, const std::string& workload, const std::string& config,
                          const Limits& limits) {
  const Workload parsed = parse_workload(workload);
  const Config point = parse_config(config);
  const auto why = kernel_space(parsed, limits).space.why_invalid(point);
  ASSERT_FALSE(why) << *why;
  const ir::Kernel kernel = lower(parsed, point, limits);
  const auto malformed = ir::why_malformed(kernel);
  ASSERT_FALSE(malformed) << *malformed;
  testing::expect_golden(name + ".ast.txt", ir::to_text(kernel));
  testing::expect_golden(name + (kernel.target == Target::kCpu ? ".cpp.txt" : ".cu.txt"), emit(kernel).text);
}

TEST(Golden, GemmCpuWithPackedPanelsAndAllEdges) {
  expect_golden_kernel(
      "gemm_cpu_packed", "gemm m=35 n=70 k=100",
      "gemm_cpu(threads=2, split=0, lanes=16, mr=6, nv=2, kc=64, mc=2, nc=2, pack_a=1, pack_b=1, "
      "order=1, ku=4, prefetch=0, masked=0)",
      avx512());
}

TEST(Golden, RowwiseCpuWithRowsInRegistersAndAPartialVector) {
  expect_golden_kernel(
      "rowwise_cpu_registers",
      "rowwise m=64 n=100 in=x:f32,g:f32:column,b:f32:column out=y:f32 "
      "expr=y=(x-mean(x))*rsqrt(var(x)+1e-05)*g+b",
      "rowwise_cpu(threads=2, lanes=16, across=0, vectors=2, rows=2, split=0, keep=2, streaming=0)",
      avx512());
}

TEST(Golden, RowwiseCpuWithRowsInLanes) {
  expect_golden_kernel(
      "rowwise_cpu_across", "rowwise m=100 n=10 in=x:f32 out=y:f32 expr=y=exp(x-max(x))/sum(exp(x-max(x)))",
      "rowwise_cpu(threads=1, lanes=16, across=1, vectors=1, rows=1, split=0, keep=1, streaming=0)",
      avx512());
}

TEST(Golden, RowwiseCpuWithFewRowsInSteps) {
  expect_golden_kernel(
      "rowwise_cpu_split",
      "rowwise m=2 n=100 in=x:f32 out=y:f32,v:f32:row "
      "expr=y=exp(x-max(x))/sum(exp(x-max(x)));v=max(x)",
      "rowwise_cpu(threads=2, lanes=16, across=0, vectors=1, rows=1, split=1, keep=0, streaming=0)",
      avx512());
}

TEST(Golden, GemmCpuWithoutPackingAndWithPrefetch) {
  expect_golden_kernel(
      "gemm_cpu_unpacked", "gemm m=16 n=64 k=32",
      "gemm_cpu(threads=1, split=0, lanes=16, mr=8, nv=2, kc=32, mc=2, nc=2, pack_a=0, pack_b=0, "
      "order=0, ku=1, prefetch=1, masked=0)",
      avx512());
}

TEST(Golden, GemmCpuWithOneMaskedMicroKernelAndASharedPrefetch) {
  expect_golden_kernel(
      "gemm_cpu_masked", "gemm m=16 n=70 k=32",
      "gemm_cpu(threads=1, split=0, lanes=16, mr=8, nv=2, kc=32, mc=2, nc=2, pack_a=1, pack_b=0, "
      "order=0, ku=1, prefetch=2, masked=1)",
      avx512());
}

TEST(Golden, GemmCpuFromTransposedOperands) {
  expect_golden_kernel(
      "gemm_cpu_transposed", "gemm m=12 n=40 k=20 batch=2 a=f32:column b=f32:column c=f32:row",
      "gemm_cpu(threads=2, split=2, lanes=8, mr=6, nv=2, kc=16, mc=2, nc=1, pack_a=0, pack_b=1, "
      "order=0, ku=1, prefetch=0, masked=0)",
      avx512());
}

TEST(Golden, GemmCpuWithAConstantB) {
  expect_golden_kernel(
      "gemm_cpu_constant_b", "gemm m=14 n=70 k=32 batch=2 b=f32:row:constant",
      "gemm_cpu(threads=2, split=1, lanes=8, mr=8, nv=3, kc=16, mc=2, nc=2, pack_a=1, pack_b=2, "
      "order=0, ku=1, prefetch=2, masked=0)",
      avx512());
  expect_golden_kernel(
      "gemm_cpu_constant_b_columns", "gemm m=1 n=40 k=20 b=f32:column:constant epilogue=bias",
      "gemm_cpu(threads=1, split=0, lanes=16, mr=1, nv=3, kc=32, mc=1, nc=1, pack_a=0, pack_b=2, "
      "order=0, ku=4, prefetch=32, masked=0)",
      avx512());
}

TEST(Golden, GemmCpuWithAGate) {
  expect_golden_kernel(
      "gemm_cpu_gated", "gemm m=8 n=70 k=16 epilogue=bias+swiglu",
      "gemm_cpu(threads=1, split=0, lanes=16, mr=8, nv=3, kc=16, mc=1, nc=2, pack_a=1, pack_b=0, "
      "order=0, ku=1, prefetch=0, masked=0)",
      avx512());
}

TEST(Golden, GemmCpuWithAnEpilogueBehindTheLastBlockOfK) {
  expect_golden_kernel(
      "gemm_cpu_epilogue", "gemm m=16 n=70 k=64 epilogue=scale_shift+silu+residual+clamp(-1,6)",
      "gemm_cpu(threads=1, split=0, lanes=16, mr=8, nv=2, kc=32, mc=2, nc=2, pack_a=1, pack_b=0, "
      "order=0, ku=1, prefetch=0, masked=1)",
      avx512());
}

TEST(Golden, WinogradOnTheCpu) {
  expect_golden_kernel(
      "conv2d_winograd_cpu", "conv2d h=10 w=18 c=20 k=40 r=3 s=3 pad=1 epilogue=bias+relu",
      "conv2d_winograd_cpu(tile=2, threads=2, split=0, lanes=16, mr=4, nv=2, rows=2, panels=2, order=1, "
      "prefetch=1)",
      avx512());
}

TEST(Golden, WinogradOnCudaWithBlocksThatShareChannels) {
  expect_golden_kernel(
      "conv2d_winograd_split_k", "conv2d h=9 w=11 c=66 k=40 r=3 s=3 pad=1 epilogue=bias+relu",
      "conv2d_winograd(tile=2, bm=32, bn=16, tm=4, tn=4, products=1, bk=8, split_k=2, stages=2, prefetch=1, "
      "pad=4, rounds=1, unroll=4, channels_first=0, min_blocks=1)",
      cuda_limits("sm_80"));
}

TEST(Golden, WinogradOnCudaOfNhwcImages) {
  expect_golden_kernel(
      "conv2d_winograd_nhwc", "conv2d n=2 h=8 w=10 c=16 k=32 r=3 s=3 pad=0x1x0x1 layout=nhwc",
      "conv2d_winograd(tile=4, bm=16, bn=8, tm=4, tn=4, products=1, bk=8, split_k=1, stages=1, prefetch=0, "
      "pad=4, rounds=1, unroll=2, channels_first=0, min_blocks=1)",
      cuda_limits("sm_80"));
}

TEST(Golden, GemvCpu) {
  expect_golden_kernel("gemv_cpu", "gemm m=1 n=100 k=30",
                       "gemv_cpu(threads=2, lanes=16, nv=2, ku=4, nb=2, prefetch=8)", avx512());
}

TEST(Golden, GemmDotCpu) {
  expect_golden_kernel("gemm_dot_cpu", "gemm m=5 n=9 k=70 b=f32:column",
                       "gemm_dot_cpu(threads=2, lanes=16, mr=3, nr=4, nc=2, order=1, ku=2, prefetch=4)",
                       avx512());
}

TEST(Golden, GemmSimtThroughRegisters) {
  expect_golden_kernel(
      "gemm_simt_prefetch", "gemm m=100 n=64 k=20",
      "gemm_simt(bm=32, bn=32, tm=4, tn=4, lanes_m=4, bk=8, split_k=1, async=0, stages=2, k_major=0, "
      "vec_a=4, vec_b=4, pad=4, min_blocks=1, frag_buffers=2, unroll=8, raster=2, staged=0)",
      cuda_limits("sm_80"));
}

TEST(Golden, GemmSimtWithTilesKeptAlongK) {
  expect_golden_kernel(
      "gemm_simt_k_major", "gemm m=64 n=67 k=32 batch=2",
      "gemm_simt(bm=32, bn=32, tm=4, tn=4, lanes_m=8, bk=8, split_k=1, async=1, stages=3, k_major=1, "
      "vec_a=4, vec_b=1, pad=4, min_blocks=1, frag_buffers=1, unroll=4, raster=1, staged=1)",
      cuda_limits("sm_80"));
}

TEST(Golden, GemmSimtWithBlocksThatSplitK) {
  expect_golden_kernel(
      "gemm_simt_split_k", "gemm m=60 n=64 k=1056",
      "gemm_simt(bm=32, bn=32, tm=4, tn=4, lanes_m=4, bk=16, split_k=4, async=1, stages=3, "
      "k_major=0, vec_a=1, vec_b=4, pad=4, min_blocks=1, frag_buffers=1, unroll=4, raster=1, "
      "staged=0)",
      cuda_limits("sm_80"));
}

TEST(Golden, GemmMmaFromRegisters) {
  expect_golden_kernel("gemm_mma_direct", "gemm m=100 n=66 k=80 a=bf16:row b=bf16:row c=f32:row",
                       "gemm_mma(bm=32, bn=64, wm=32, wn=32, bk=32, k_warps=1, split_k=1, stage_c=0, "
                       "stages=3, frag_buffers=2, min_blocks=1, raster=2)",
                       cuda_limits("sm_80"));
}

TEST(Golden, GemmMmaOnTuring) {
  expect_golden_kernel("gemm_mma_turing", "gemm m=60 n=100 k=100 a=f16:row b=f16:column c=f16:row",
                       "gemm_mma(bm=32, bn=32, wm=16, wn=32, bk=32, k_warps=1, split_k=1, stage_c=0, "
                       "stages=2, frag_buffers=1, min_blocks=1, raster=1)",
                       cuda_limits("sm_75"));
}

TEST(Golden, GemmMmaWithWarpsThatSplitK) {
  expect_golden_kernel("gemm_mma_split", "gemm m=8 n=64 k=1000 batch=2 a=bf16:row b=bf16:column c=bf16:row",
                       "gemm_mma(bm=16, bn=32, wm=16, wn=32, bk=64, k_warps=4, split_k=1, stage_c=1, "
                       "stages=4, frag_buffers=1, min_blocks=1, raster=1)",
                       cuda_limits("sm_80"));
}

TEST(Golden, GemmMmaWithBlocksThatSplitK) {
  expect_golden_kernel("gemm_mma_split_k", "gemm m=16 n=48 k=1000 a=bf16:row b=bf16:column c=bf16:row",
                       "gemm_mma(bm=16, bn=32, wm=16, wn=32, bk=64, k_warps=2, split_k=3, stage_c=1, "
                       "stages=3, frag_buffers=1, min_blocks=1, raster=1)",
                       cuda_limits("sm_80"));
}

TEST(Golden, GemmMmaOf3xTf32) {
  expect_golden_kernel("gemm_mma_3xtf32", "gemm m=100 n=66 k=80 a=f32:row b=f32:column c=f32:row math=3xtf32",
                       "gemm_mma(bm=32, bn=32, wm=16, wn=32, bk=16, k_warps=1, split_k=1, stage_c=0, "
                       "stages=3, frag_buffers=1, min_blocks=1, raster=1)",
                       cuda_limits("sm_80"));
}

TEST(Golden, GemmWgmmaCooperative) {
  expect_golden_kernel("gemm_wgmma_cooperative",
                       "gemm m=300 n=200 k=136 batch=2 a=bf16:row b=bf16:row c=bf16:row",
                       "gemm_wgmma(swap_ab=0, bm=128, bn=160, k_atoms=1, consumers=2, ping_pong=0, "
                       "persistent=0, cluster_bm=1, cluster_bn=1, split_k=1, reduce=0, keep=0, store=1, "
                       "stmatrix=0, stages=3, in_flight=1, raster=2, pdl=0)",
                       cuda_limits("sm_90a"));
}

TEST(Golden, GemmWgmmaPingPong) {
  expect_golden_kernel("gemm_wgmma_ping_pong",
                       "gemm m=2048 n=1024 k=256 a=s8:row b=s8:column c=s32:row accum=s32",
                       "gemm_wgmma(swap_ab=0, bm=64, bn=32, k_atoms=1, consumers=2, ping_pong=1, "
                       "persistent=1, cluster_bm=1, cluster_bn=1, split_k=1, reduce=0, keep=0, store=0, "
                       "stmatrix=0, stages=4, in_flight=0, raster=1, pdl=0)",
                       cuda_limits("sm_90a"));
}

TEST(Golden, GemmWgmmaCluster) {
  expect_golden_kernel("gemm_wgmma_cluster", "gemm m=1024 n=1024 k=256 a=bf16:row b=bf16:column c=bf16:row",
                       "gemm_wgmma(swap_ab=0, bm=128, bn=64, k_atoms=1, consumers=1, ping_pong=0, "
                       "persistent=0, cluster_bm=2, cluster_bn=2, split_k=1, reduce=0, keep=1, store=0, "
                       "stmatrix=0, stages=4, in_flight=0, raster=4, pdl=0)",
                       cuda_limits("sm_90a"));
}

TEST(Golden, GemmWgmmaReduce) {
  expect_golden_kernel("gemm_wgmma_reduce", "gemm m=16 n=512 k=1024 a=bf16:row b=bf16:column c=bf16:row",
                       "gemm_wgmma(swap_ab=1, bm=64, bn=16, k_atoms=1, consumers=1, ping_pong=0, "
                       "persistent=0, cluster_bm=1, cluster_bn=1, split_k=4, reduce=1, keep=0, store=0, "
                       "stmatrix=0, stages=4, in_flight=0, raster=1, pdl=0)",
                       cuda_limits("sm_90a"));
}

TEST(Golden, GemmWgmmaPartsThatAdd) {
  expect_golden_kernel("gemm_wgmma_add", "gemm m=96 n=512 k=1024 a=bf16:row b=bf16:column c=bf16:row",
                       "gemm_wgmma(swap_ab=0, bm=128, bn=16, k_atoms=1, consumers=2, ping_pong=0, "
                       "persistent=0, cluster_bm=1, cluster_bn=1, split_k=3, reduce=2, keep=0, store=0, "
                       "stmatrix=0, stages=4, in_flight=0, raster=1, pdl=1)",
                       cuda_limits("sm_90a"));
}

TEST(Golden, GemmWgmmaSplit) {
  expect_golden_kernel("gemm_wgmma_split", "gemm m=16 n=512 k=1024 a=bf16:row b=bf16:column c=bf16:row",
                       "gemm_wgmma(swap_ab=1, bm=64, bn=16, k_atoms=1, consumers=1, ping_pong=0, "
                       "persistent=0, cluster_bm=1, cluster_bn=1, split_k=3, reduce=0, keep=2, store=0, "
                       "stmatrix=0, stages=4, in_flight=0, raster=1, pdl=1)",
                       cuda_limits("sm_90a"));
}

TEST(Golden, DepthwiseCpuAlongTheLineFromPairs) {
  expect_golden_kernel(
      "conv2d_depthwise_cpu_nchw",
      "conv2d h=12 w=40 c=4 k=8 r=3 s=3 stride=2 pad=1 groups=4 epilogue=scale_shift+relu6",
      "conv2d_depthwise_cpu(threads=2, split=0, lanes=16, rows=2, cols=1, copy=1, block=2, taps=1, hold=1)",
      avx512());
}

TEST(Golden, DepthwiseCpuAcrossChannelsWithoutACopy) {
  expect_golden_kernel(
      "conv2d_depthwise_cpu_nhwc", "conv2d h=12 w=14 c=40 k=40 r=3 s=3 pad=1 groups=40 layout=nhwc",
      "conv2d_depthwise_cpu(threads=2, split=1, lanes=16, rows=1, cols=7, copy=0, block=2, taps=1, hold=0)",
      avx512());
}

TEST(Golden, OcCpuFromNchwLinesInUnevenBlocksOfChannels) {
  expect_golden_kernel(
      "conv2d_oc_cpu_nchw", "conv2d h=10 w=19 c=10 k=40 r=3 s=3 stride=2 pad=1 epilogue=bias+relu",
      "conv2d_oc_cpu(threads=2, split=0, lanes=16, mr=4, nv=2, lines=2, cc=4, copy=1, taps=1, prefetch=1)",
      avx512());
}

TEST(Golden, OcCpuOfNhwcImagesReadWhereTheyAre) {
  expect_golden_kernel(
      "conv2d_oc_cpu_nhwc", "conv2d n=2 h=9 w=14 c=16 k=40 r=3 s=3 pad=1x0 layout=nhwc epilogue=bias+relu",
      "conv2d_oc_cpu(threads=2, split=1, lanes=16, mr=6, nv=2, lines=3, cc=8, copy=0, taps=0, prefetch=0)",
      avx512());
}

TEST(Golden, Im2colCpuOfPixelsAcrossTheEndsOfLines) {
  expect_golden_kernel(
      "conv2d_im2col_cpu_nchw", "conv2d h=10 w=19 c=10 k=40 r=3 s=3 stride=2 pad=1 epilogue=bias+relu",
      "conv2d_im2col_cpu(threads=2, split=1, lanes=16, mr=6, nv=1, kc=36, mc=4, nc=2, order=0, ku=1, "
      "prefetch=0, masked=0, copy=1)",
      avx512());
}

TEST(Golden, Im2colCpuOfNhwcImagesWhoseTapsLieSideBySide) {
  expect_golden_kernel(
      "conv2d_im2col_cpu_nhwc", "conv2d n=2 h=9 w=14 c=5 k=40 r=3 s=3 pad=1x0 layout=nhwc epilogue=bias+relu",
      "conv2d_im2col_cpu(threads=2, split=2, lanes=16, mr=5, nv=2, kc=45, mc=4, nc=2, order=0, ku=1, "
      "prefetch=4, masked=0, copy=0)",
      avx512());
}

TEST(Golden, GemmWgmmaTwoLevel) {
  expect_golden_kernel("gemm_wgmma_two_level",
                       "gemm m=256 n=192 k=512 a=e4m3:row b=e4m3:column c=bf16:row math=two_level",
                       "gemm_wgmma(swap_ab=0, bm=128, bn=96, k_atoms=2, consumers=1, ping_pong=0, "
                       "persistent=0, cluster_bm=1, cluster_bn=1, split_k=1, reduce=0, keep=0, store=0, "
                       "stmatrix=0, stages=2, in_flight=0, raster=1, pdl=0)",
                       cuda_limits("sm_90a"));
}

TEST(Golden, Conv2dWgmmaWithACluster) {
  expect_golden_kernel("conv2d_wgmma",
                       "conv2d n=4 h=15 w=16 c=96 k=128 r=3 s=3 stride=2x1 pad=1 dilation=1x2 layout=nhwc "
                       "x=bf16 f=bf16 y=bf16 "
                       "epilogue=bias+relu",
                       "conv2d_wgmma(swap_ab=0, bm=128, bn=64, k_atoms=2, consumers=2, ping_pong=0, "
                       "persistent=0, cluster_bm=1, "
                       "cluster_bn=2, split_k=1, reduce=0, keep=0, store=0, stmatrix=0, stages=3, "
                       "in_flight=0, raster=1, "
                       "pdl=0)",
                       cuda_limits("sm_90a"));
}

TEST(Golden, GemvSimtAlongK) {
  expect_golden_kernel("gemv_simt_dot", "gemm m=2 n=100 k=300 b=f32:column",
                       "gemv_simt(vec=4, lanes_k=16, warps_k=2, warps_o=1, each=2, unroll=2, min_blocks=1)",
                       cuda_limits("sm_80"));
}

TEST(Golden, GemvSimtOfBf16) {
  expect_golden_kernel("gemv_simt_bf16", "gemm m=1 n=64 k=512 a=bf16:row b=bf16:column c=bf16:row",
                       "gemv_simt(vec=8, lanes_k=32, warps_k=1, warps_o=2, each=1, unroll=2, min_blocks=1)",
                       cuda_limits("sm_80"));
}

TEST(Golden, GemvSimtAlongTheOutputs) {
  expect_golden_kernel("gemv_simt_columns", "gemm m=1 n=100 k=300",
                       "gemv_simt(vec=4, lanes_k=4, warps_k=1, warps_o=1, each=1, unroll=4, min_blocks=1)",
                       cuda_limits("sm_80"));
}

}  // namespace
}  // namespace lehr
