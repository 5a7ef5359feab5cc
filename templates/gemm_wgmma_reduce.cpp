#include "templates/gemm_wgmma_reduce.h"

#include <utility>

namespace lehr {

using namespace ir;

namespace {

constexpr int kVec = 4;  // 16 bytes

/// First element of the thread's vector `i`.
Expr slot(const GemmWgmmaReduce& r, VarId worker, VarId i) {
  return (var(i) * r.threads + var(worker)) * kVec;
}

}  // namespace

void add_gemm_wgmma_reduce(KernelBuilder& builder, DType type, GemmWgmmaReduce& r) {
  r.shared = builder.buffer("cluster_sums", type, Scope::kShared, r.elements * r.threads);
  r.part = builder.buffer("split_part", type, Scope::kRegister, kVec);
}

Block gemm_wgmma_leave(KernelBuilder& builder, const GemmWgmmaReduce& r, VarId worker, BufferId registers) {
  const VarId i = builder.var("i");
  const Store leave{r.shared, slot(r, worker, i), load(registers, var(i) * kVec, kVec), kVec, std::nullopt};
  return block(loop(i, r.elements / kVec, LoopKind::kUnrolled, block(leave)));
}

Block gemm_wgmma_total(KernelBuilder& builder, const GemmWgmmaReduce& r, VarId worker, BufferId registers) {
  const VarId part = builder.var("from_split");
  const VarId i = builder.var("i");
  const VarId own = builder.var("i");
  const VarId e = builder.var("e");
  const Expr at = var(i) * kVec + var(e);
  const Store first{registers, var(own) * kVec, load(r.shared, slot(r, worker, own), kVec), kVec,
                    std::nullopt};
  const Intrinsic read{
      "cluster_load_16",
      {Touch{r.part, integer(0), kVec, true}, Touch{r.shared, slot(r, worker, i), kVec, false}},
      {var(part) + 1},
      0};
  const Store add{registers, at, load(registers, at) + load(r.part, var(e)), 1, std::nullopt};
  Block body = block(read, loop(e, kVec, LoopKind::kUnrolled, block(add)));
  body = block(loop(i, r.elements / kVec, LoopKind::kUnrolled, std::move(body)));
  return block(loop(own, r.elements / kVec, LoopKind::kUnrolled, block(first)),
               loop(part, r.parts - 1, LoopKind::kSerial, std::move(body)));
}

}  // namespace lehr
