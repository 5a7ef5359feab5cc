#include "templates/gemm/cuda/gemm_wgmma_reduce.h"

#include <utility>

#include "templates/gemm/cuda/gemm_wgmma_copy.h"

namespace lehr {

using namespace ir;

namespace {

constexpr int kVec = 4;                  // elements in 16 bytes
constexpr std::int64_t kConsumer = 128;  // threads of a consumer

Block to_shared(KernelBuilder& builder, const GemmWgmmaExchange& x, VarId worker, BufferId registers) {
  const Unrolled i(builder, "i", x.sums.elements / kVec);
  return i.over(block(Store{x.shared, split_k_vector(x.sums, worker, i.at),
                            load(registers, i.at * kVec, kVec), kVec, std::nullopt}));
}

/// Adds each consumer's sums to the workspace, by one of its threads. At the beginning of a launch the
/// workspace holds zeros: the last block of the previous launch has written them, and a launch begins (or
/// continues after griddepcontrol.wait) after the writes of the previous one. The completion of the additions
/// makes them visible to the thread that waits for it (PTX ISA 9.0, "Async proxy": an implicit fence between
/// the proxies). The fence of that thread makes them visible to the last block, as in split_k_leave().
Block add_to_workspace(KernelBuilder& builder, const GemmWgmmaExchange& x, const SplitKPlace& place,
                       VarId thread, const Expr& consumer) {
  const SplitKSums& s = x.sums;
  const std::int64_t run = s.elements * s.group;
  const bool is_float = builder.kernel.buffer(x.shared).type == DType::kF32;
  const Intrinsic add{is_float ? StaticText("tma_reduce_add_f32") : "tma_reduce_add_s32",
                      {Touch{x.shared, consumer * run, run, false},
                       Touch{s.partials, split_k_run(s, place, consumer), run, true}},
                      {integer(run * 4)},
                      0};
  Block result =
      block(Intrinsic{"async_proxy_fence", {}, {}, 0}, Intrinsic{"named_barrier", {}, {consumer + 1}, 0});
  append(result, gemm_wgmma_by_one(builder, eq(var(thread) / 32 % 4, integer(0)), s.threads / s.group,
                                   block(add, Intrinsic{"tma_store_commit", {}, {}, 0},
                                         Intrinsic{"tma_store_wait_complete", {}, {integer(0)}, 0},
                                         Intrinsic{"device_fence", {}, {}, 0})));
  return result;
}

/// Adds up the sums from the shared memory of the cluster's blocks, in the order of the parts of k.
Block total_of_cluster(KernelBuilder& builder, const GemmWgmmaExchange& x, VarId worker, BufferId registers) {
  const SplitKSums& s = x.sums;
  const VarId part = builder.var("from_split");
  const Unrolled i(builder, "i", s.elements / kVec), own(builder, "i", s.elements / kVec);
  const Unrolled e(builder, "e", kVec);
  const Expr at = i.at * kVec + e.at;
  const Store first{registers, own.at * kVec, load(x.shared, split_k_vector(s, worker, own.at), kVec), kVec,
                    std::nullopt};
  const Intrinsic read{
      "cluster_load_16",
      {Touch{s.part, integer(0), kVec, true}, Touch{x.shared, split_k_vector(s, worker, i.at), kVec, false}},
      {var(part) + 1},
      0};
  const Store add{registers, at, load(registers, at) + load(s.part, e.at), 1, std::nullopt};
  Block body = block(read);
  append(body, e.over(block(add)));
  Block result = own.over(block(first));
  result.push_back(loop(part, s.parts - 1, LoopKind::kSerial, i.over(body)));
  return result;
}

}  // namespace

GemmWgmmaExchange gemm_wgmma_exchange(KernelBuilder& builder, const GemmWgmmaProblem& p,
                                      const GemmWgmmaSchedule& schedule, std::int64_t tiles) {
  GemmWgmmaExchange x;
  x.reduce = schedule.reduce;
  SplitKSums& s = x.sums;
  s.parts = schedule.split_k;
  s.tiles = tiles;
  s.threads = kConsumer * schedule.consumers;
  s.elements = schedule.accumulators();
  s.vec = kVec;
  if (x.reduce != 0)
    x.shared = builder.buffer(x.reduce == 1 ? "cluster_sums" : "block_sums", p.accum, Scope::kShared,
                              s.elements * s.threads);
  if (x.reduce == 1) {
    s.part = builder.buffer("split_part", p.accum, Scope::kRegister, kVec);
    return x;
  }
  if (x.reduce == 2) {
    s.group = kConsumer;
    s.addends = gemm_wgmma_addends(p, schedule);
  }
  add_split_k_buffers(builder, p.accum, s);
  return x;
}

Block gemm_wgmma_exchange_allocs(const GemmWgmmaExchange& x) {
  Block result;
  if (x.reduce != 0) result.push_back(Alloc{x.shared});
  if (x.reduce != 1) result.push_back(Alloc{x.sums.ticket});
  return result;
}

Block gemm_wgmma_leave(KernelBuilder& builder, const GemmWgmmaExchange& x, const SplitKPlace& place,
                       VarId thread, VarId consumer, BufferId registers) {
  if (x.reduce == 0) return split_k_leave(builder, x.sums, place, registers);
  Block result = to_shared(builder, x, place.thread, registers);
  if (x.reduce == 2) append(result, add_to_workspace(builder, x, place, thread, var(consumer)));
  return result;
}

Block gemm_wgmma_meet(const GemmWgmmaExchange& x, const SplitKPlace& place, const Expr& first, Block write) {
  if (x.reduce != 1) return split_k_arrive(x.sums, place.tile, first, write);
  const Barrier together{BarrierScope::kCluster};  // at the second barrier the other blocks still exist
  return block(together, If{eq(place.part, integer(0)), write, {}}, together);
}

Block gemm_wgmma_total(KernelBuilder& builder, const GemmWgmmaExchange& x, const SplitKPlace& place,
                       BufferId registers) {
  return x.reduce == 1 ? total_of_cluster(builder, x, place.thread, registers)
                       : split_k_total(builder, x.sums, place, registers);
}

}  // namespace lehr
