// Hand-built kernels for the tests.
#include "tests/costmodel/kernels.h"

#include <cmath>

namespace lehr::test {

using namespace lehr::ir;  // NOLINT: the builders read as kernels

Limits cpu_test_limits() {
  Limits limits;
  limits.arch = "avx512";
  limits.cores = 4;
  limits.vector_bytes = 64;
  limits.vector_registers = 32;
  limits.l1_bytes = 48 << 10;
  limits.l2_bytes = 1 << 20;
  limits.l3_bytes = 32 << 20;
  limits.peak_gflops_f32 = 4 * 235;
  limits.dram_gbytes_per_s = 40;
  return limits;
}

Kernel cpu_gemm(const CpuGemm& s) {
  KernelBuilder b;
  b.kernel.name = "gemm";
  b.kernel.target = Target::kCpu;
  const BufferId a = b.param("A", DType::kF32, s.m * s.k, Direction::kIn);
  const BufferId w = b.param("B", DType::kF32, s.k * s.n, Direction::kIn);
  const BufferId c = b.param("C", DType::kF32, s.m * s.n, Direction::kOut);
  const BufferId acc =
      b.buffer("acc", DType::kF32, Scope::kRegister, s.mr * s.nv * s.lanes, static_cast<int>(s.lanes));
  const VarId it = b.var("it"), jt = b.var("jt"), kt = b.var("kt"), i = b.var("i"), j = b.var("j"),
              k = b.var("k");
  const int lanes = static_cast<int>(s.lanes);
  const auto row = [&](Expr u) { return var(it) * s.mb + var(i) * s.mr + std::move(u); };
  const auto column = [&](Expr v) { return var(jt) * s.nb + (var(j) * s.nv + std::move(v)) * s.lanes; };
  const auto slot = [&](Expr u, Expr v) { return (std::move(u) * s.nv + std::move(v)) * s.lanes; };
  const auto tile = [&](auto body) {
    const VarId u = b.var("u"), v = b.var("v");
    return loop(u, s.mr, LoopKind::kUnrolled, block(loop(v, s.nv, LoopKind::kUnrolled, body(u, v))));
  };
  Stmt read = tile([&](VarId u, VarId v) {
    return block(
        Store{acc, slot(var(u), var(v)), load(c, row(var(u)) * s.n + column(var(v)), lanes), lanes, {}});
  });
  Stmt multiply = tile([&](VarId u, VarId v) {
    return block(Store{acc,
                       slot(var(u), var(v)),
                       fma(splat(load(a, row(var(u)) * s.k + var(kt) * s.kb + var(k)), lanes),
                           load(w, (var(kt) * s.kb + var(k)) * s.n + column(var(v)), lanes),
                           load(acc, slot(var(u), var(v)), lanes)),
                       lanes,
                       {}});
  });
  Stmt write = tile([&](VarId u, VarId v) {
    return block(
        Store{c, row(var(u)) * s.n + column(var(v)), load(acc, slot(var(u), var(v)), lanes), lanes, {}});
  });
  Stmt sum = loop(k, s.kb, LoopKind::kSerial, block(std::move(multiply)));
  Stmt columns = loop(j, s.nb / (s.nv * s.lanes), LoopKind::kSerial,
                      block(Alloc{acc}, std::move(read), std::move(sum), std::move(write)));
  Stmt rows = loop(i, s.mb / s.mr, LoopKind::kSerial, block(std::move(columns)));
  Stmt depth = loop(kt, s.k / s.kb, LoopKind::kSerial, block(std::move(rows)));
  Stmt panels = loop(jt, s.n / s.nb, LoopKind::kSerial, block(std::move(depth)));
  b.kernel.body = block(loop(it, s.m / s.mb, LoopKind::kParallel, block(std::move(panels))));
  return std::move(b.kernel);
}

Kernel cuda_gemm(const CudaGemm& s) {
  KernelBuilder b;
  b.kernel.name = "gemm";
  b.kernel.target = Target::kCuda;
  const BufferId a = b.param("A", DType::kF32, s.m * s.k, Direction::kIn);
  const BufferId w = b.param("B", DType::kF32, s.k * s.n, Direction::kIn);
  const BufferId c = b.param("C", DType::kF32, s.m * s.n, Direction::kOut);
  const BufferId as = b.buffer("As", DType::kF32, Scope::kShared, s.bm * s.bk);
  const BufferId bs = b.buffer("Bs", DType::kF32, Scope::kShared, s.bk * s.bn);
  const BufferId acc = b.buffer("acc", DType::kF32, Scope::kRegister, s.tm * s.tn);
  const BufferId fa = b.buffer("fa", DType::kF32, Scope::kRegister, s.tm);
  const BufferId fb = b.buffer("fb", DType::kF32, Scope::kRegister, s.tn);
  const VarId by = b.var("by"), bx = b.var("bx"), ty = b.var("ty"), tx = b.var("tx"), kt = b.var("kt"),
              k = b.var("k");
  const std::int64_t wide = s.bn / s.tn, threads = wide * (s.bm / s.tm);
  const int lanes = static_cast<int>(s.vector);
  const auto stage = [&](BufferId from, BufferId to, std::int64_t rows, std::int64_t cols, auto address) {
    const VarId p = b.var("p"), e = b.var("e");
    return loop(
        p, rows * cols / s.vector / threads, LoopKind::kSerial,
        block(Let{e, (var(p) * threads + var(ty) * wide + var(tx)) * s.vector},
              Store{to, var(e), load(from, address(var(e) / cols, var(e) % cols), lanes), lanes, {}}));
  };
  Stmt stage_a = stage(a, as, s.bm, s.bk, [&](Expr r, Expr col) {
    return (var(by) * s.bm + std::move(r)) * s.k + var(kt) * s.bk + std::move(col);
  });
  Stmt stage_b = stage(w, bs, s.bk, s.bn, [&](Expr r, Expr col) {
    return (var(kt) * s.bk + std::move(r)) * s.n + var(bx) * s.bn + std::move(col);
  });
  const VarId u = b.var("u"), v = b.var("v"), x = b.var("x"), y = b.var("y"), p = b.var("p"), q = b.var("q");
  Stmt read_a = loop(u, s.tm, LoopKind::kUnrolled,
                     block(Store{fa, var(u), load(as, (var(ty) * s.tm + var(u)) * s.bk + var(k)), 1, {}}));
  Stmt read_b = loop(v, s.tn, LoopKind::kUnrolled,
                     block(Store{fb, var(v), load(bs, var(k) * s.bn + var(tx) * s.tn + var(v)), 1, {}}));
  Stmt multiply =
      loop(x, s.tm, LoopKind::kUnrolled,
           block(loop(y, s.tn, LoopKind::kUnrolled,
                      block(Store{acc,
                                  var(x) * s.tn + var(y),
                                  fma(load(fa, var(x)), load(fb, var(y)), load(acc, var(x) * s.tn + var(y))),
                                  1,
                                  {}}))));
  Stmt write = loop(p, s.tm, LoopKind::kUnrolled,
                    block(loop(q, s.tn, LoopKind::kUnrolled,
                               block(Store{c,
                                           (var(by) * s.bm + var(ty) * s.tm + var(p)) * s.n + var(bx) * s.bn +
                                               var(tx) * s.tn + var(q),
                                           load(acc, var(p) * s.tn + var(q)),
                                           1,
                                           {}}))));
  Stmt inner =
      loop(k, s.bk, LoopKind::kSerial, block(std::move(read_a), std::move(read_b), std::move(multiply)));
  Stmt outer = loop(kt, s.k / s.bk, LoopKind::kSerial,
                    block(std::move(stage_a), std::move(stage_b), Barrier{}, std::move(inner), Barrier{}));
  Block body =
      block(Alloc{as}, Alloc{bs}, Alloc{acc}, Alloc{fa}, Alloc{fb}, std::move(outer), std::move(write));
  Stmt thread_x = loop(tx, wide, LoopKind::kThreadX, std::move(body));
  Stmt thread_y = loop(ty, s.bm / s.tm, LoopKind::kThreadY, block(std::move(thread_x)));
  Stmt block_x = loop(bx, s.n / s.bn, LoopKind::kBlockX, block(std::move(thread_y)));
  b.kernel.body = block(loop(by, s.m / s.bm, LoopKind::kBlockY, block(std::move(block_x))));
  return std::move(b.kernel);
}

Kernel cuda_copy(std::int64_t stride, std::int64_t lanes) {
  KernelBuilder b;
  b.kernel.name = "copy";
  b.kernel.target = Target::kCuda;
  const BufferId in = b.param("in", DType::kF32, 32 * std::max(stride, lanes), Direction::kIn);
  const BufferId out = b.param("out", DType::kF32, 32 * lanes, Direction::kOut);
  const VarId tx = b.var("tx");
  const int n = static_cast<int>(lanes);
  b.kernel.body = block(loop(tx, 32, LoopKind::kThreadX,
                             block(Store{out, var(tx) * lanes, load(in, var(tx) * stride, n), n, {}})));
  return std::move(b.kernel);
}

Kernel shared_stride(std::int64_t stride, bool swizzled) {
  KernelBuilder b;
  b.kernel.name = "shared";
  b.kernel.target = Target::kCuda;
  const BufferId out = b.param("out", DType::kF32, 32, Direction::kOut);
  const BufferId s = b.buffer("s", DType::kF32, Scope::kShared, 32 * stride);
  const VarId tx = b.var("tx");
  // Row tx, column tx xor 0 .. : the classic swizzle of a 32-column tile reads one column without conflicts.
  Expr index = swizzled ? var(tx) * stride + bit_xor(var(tx), integer(5)) : var(tx) * stride;
  b.kernel.body = block(loop(tx, 32, LoopKind::kThreadX,
                             block(Alloc{s}, Store{s, index, zero(DType::kF32), 1, {}}, Barrier{},
                                   Store{out, var(tx), load(s, index), 1, {}})));
  return std::move(b.kernel);
}

double feature(const std::vector<float>& row, std::string_view name) {
  return row.at(feature_index(name));
}
double feature(const Kernel& kernel, const Limits& limits, std::string_view name) {
  return feature(featurize(kernel, limits), name);
}

double unlog(double column) {
  return std::exp2(column) - 1;
}

}  // namespace lehr::test
